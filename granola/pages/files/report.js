"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const questions = [...document.querySelectorAll("details.question")];
  const texts = questions.map((question) => question.textContent.toLowerCase());
  const relation = byId("relation"), text = byId("text"), verdict = byId("verdict"), different = byId("different"), open = byId("open");

  const visible = () => questions.filter((question) => !question.hidden);
  const allOpen = () => visible().length > 0 && visible().every((question) => question.open);
  const label = () => { open.textContent = allOpen() ? "Close all" : "Open all"; };

  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    questions.forEach((question, index) => {
      const fits = (!relation.value || question.dataset.relation === relation.value)
        && (!verdict.value || question.dataset.verdicts.split(" ").includes(verdict.value))
        && (!wanted || texts[index].includes(wanted))
        && (!different.checked || question.dataset.different === "yes");
      question.hidden = !fits;
      shown += fits;
    });
    byId("shown").textContent = `${shown} of ${questions.length}`;
    label();
  };

  questions.forEach((question) => question.addEventListener("toggle", label));
  open.addEventListener("click", () => {
    const all = allOpen();
    visible().forEach((question) => { question.open = !all; });
    label();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  [relation, verdict, different].forEach((control) => control.addEventListener("change", filter));
  text.addEventListener("input", filter);
  byId("filters").hidden = false;
  filter();
})();
