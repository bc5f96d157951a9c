"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const questions = [...document.querySelectorAll("details.question")];
  const texts = questions.map((question) => question.textContent.toLowerCase());
  const relation = byId("relation"), text = byId("text"), different = byId("different"), open = byId("open");

  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    questions.forEach((question, index) => {
      const fits = (!relation.value || question.dataset.relation === relation.value)
        && (!wanted || texts[index].includes(wanted))
        && (!different.checked || question.dataset.different === "yes");
      question.hidden = !fits;
      shown += fits;
    });
    byId("shown").textContent = `${shown} of ${questions.length}`;
  };

  const visible = () => questions.filter((question) => !question.hidden);
  open.addEventListener("click", () => {
    const all = visible().every((question) => question.open);
    visible().forEach((question) => { question.open = !all; });
    open.textContent = all ? "Open all" : "Close all";
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  [relation, different].forEach((control) => control.addEventListener("change", filter));
  text.addEventListener("input", filter);
  byId("filters").hidden = false;
  filter();
})();
