"use strict";
(() => {
  // The row, to be copied; where that is not allowed, it is there to be taken.
  const json = document.getElementById("json");
  if (json) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy JSON";
    copy.setAttribute("aria-live", "polite");
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(json.value);
        copy.textContent = "Copied";
      } catch {
        json.closest("details").open = true;
        json.select();
        copy.textContent = "Press Ctrl+C";
      }
    });
    json.closest("details").before(copy);
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
