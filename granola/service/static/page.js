"use strict";
(() => {
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-live", "polite");
    made.addEventListener("click", async () => {
      made.textContent = (await act()) ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { made.textContent = text; }, 2000);
    });
    return made;
  };
  const copy = async (text, area) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      if (area) { area.closest("details").open = true; area.focus(); area.select(); }
      return false;
    }
  };
  document.querySelectorAll("div.copy").forEach((place) => {
    const area = place.querySelector("textarea");
    place.append(button(`Copy ${place.querySelector("summary").textContent}`, () => copy(area.value, area)));
  });
  const share = document.getElementById("share");
  if (share) share.append(button("Copy its address", () => copy(location.href)));
  const reasons = [...document.querySelectorAll("details.why")];
  if (reasons.length > 1) {
    const all = document.createElement("button");
    all.type = "button";
    const label = () => { all.textContent = reasons.every((one) => one.open) ? "Close all reasons" : "Open all reasons"; };
    all.addEventListener("click", () => {
      const open = !reasons.every((one) => one.open);
      reasons.forEach((one) => { one.open = open; });
    });
    reasons.forEach((one) => one.addEventListener("toggle", label));
    label();
    document.querySelector("ol.rungs").after(all);
  }
  const form = document.getElementById("ask");
  form.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  // Addresses to share hold only what was filled in.
  form.addEventListener("formdata", (event) => {
    [...event.formData.entries()].forEach(([name, value]) => { if (value === "") event.formData.delete(name); });
  });
})();
