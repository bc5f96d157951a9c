"use strict";
(() => {
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  };
  const copying = (text, what, area) => {
    const made = button(text, async () => {
      try {
        await navigator.clipboard.writeText(what());
        made.textContent = "Copied";
      } catch {
        if (area) { area.closest("details").open = true; area.focus(); area.select(); }
        made.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { made.textContent = text; }, 2000);
    });
    made.setAttribute("aria-live", "polite");
    return made;
  };
  const place = document.getElementById("copy");
  if (place) {
    place.append(copying("Copy address", () => location.href));
    document.querySelectorAll("#forms textarea").forEach((area) => {
      place.append(copying(`Copy ${area.dataset.name}`, () => area.value, area));
    });
  }
  const reasons = [...document.querySelectorAll("details.why")];
  if (reasons.length > 1) {
    const all = button("", () => {
      const open = !reasons.every((one) => one.open);
      reasons.forEach((one) => { one.open = open; });
    });
    const label = () => { all.textContent = reasons.every((one) => one.open) ? "Close all reasons" : "Open all reasons"; };
    reasons.forEach((one) => one.addEventListener("toggle", label));
    label();
    document.querySelector("ol.rungs").after(all);
  }
  const form = document.getElementById("ask");
  form.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
})();
