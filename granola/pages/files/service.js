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
  const asking = document.getElementById("asking");
  if (asking.hasAttribute("data-folds") && matchMedia("(max-width: 34rem)").matches) asking.open = false;
  const form = document.getElementById("ask"), names = document.getElementById("names");
  let timer = 0, under = null;
  const complete = async (field) => {
    const typed = field.value.trim();
    under?.abort();
    if (typed.length < 2 || typed.length > 100) { names.replaceChildren(); return; }
    under = new AbortController();
    const language = form.elements.language.value || "en";
    const query = new URLSearchParams({ name: typed, language, begins: "true", limit: "8" });
    try {
      const got = await fetch(`v1/search?${query}`, { signal: under.signal });
      if (!got.ok) return;
      names.replaceChildren(...(await got.json()).found.map((one) => {
        const option = document.createElement("option");
        option.value = one.text;
        option.label = [one.text, one.label !== one.text && one.label, one.description].filter(Boolean).join(" – ");
        return option;
      }));
    } catch { /* who types on, or is offline, goes without */ }
  };
  document.querySelectorAll("[data-names]").forEach((field) => field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => complete(field), 150);
  }));
  form.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
})();
