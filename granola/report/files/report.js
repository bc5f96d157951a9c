"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const questions = [...document.querySelectorAll("details.question")];
  const texts = questions.map((question) => question.textContent.toLowerCase());
  const controls = ["relation", "verdict", "different", "field", "order", "falling"].map(byId);
  const [relation, verdict, different, field, order, falling] = controls;
  const text = byId("text"), open = byId("open");

  // What a page without predictions is searched and sorted by: the question, its answer, and the fields of the rows.
  const words = (question, selector) => (question.querySelector(selector)?.textContent ?? "").trim();
  const fieldsOf = (question) => {
    const fields = new Map([["question", words(question, ".asked")], ["answer", words(question, "summary small")]]);
    for (const name of question.querySelectorAll("dl.fields dt")) {
      fields.set(name.textContent.trim(), name.nextElementSibling.textContent.trim());
    }
    return fields;
  };
  const fields = field ? questions.map(fieldsOf) : [];
  const names = [...new Set(fields.flatMap((own) => [...own.keys()]))];
  for (const select of field ? [field, order] : []) {
    for (const name of names) select.add(new Option(name, name));
  }

  const visible = () => questions.filter((question) => !question.hidden);
  const allOpen = () => visible().length > 0 && visible().every((question) => question.open);
  const label = () => { open.textContent = allOpen() ? "Close all" : "Open all"; };

  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    questions.forEach((question, index) => {
      const searched = field?.value ? (fields[index].get(field.value) ?? "").toLowerCase() : texts[index];
      const fits = (!relation.value || question.dataset.relation === relation.value)
        && (!verdict?.value || question.dataset.verdicts.split(" ").includes(verdict.value))
        && (!wanted || searched.includes(wanted))
        && (!different?.checked || question.dataset.different === "yes");
      question.hidden = !fits;
      shown += fits;
    });
    byId("shown").textContent = `${shown} of ${questions.length}`;
    label();
  };

  // Questions without the field stand last, numbers are sorted as numbers.
  const sort = () => {
    const compare = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;
    const places = questions.map((_, index) => index);
    const value = (index) => fields[index].get(order.value);
    if (order.value) {
      places.sort((a, b) => {
        if (value(a) === undefined || value(b) === undefined) return (value(a) === undefined) - (value(b) === undefined);
        const numbers = Number(value(a)) - Number(value(b));
        return (falling.checked ? -1 : 1) * (Number.isNaN(numbers) ? compare(value(a), value(b)) : numbers);
      });
    } else if (falling.checked) places.reverse();
    const list = questions[0]?.parentNode;
    places.forEach((index) => list.append(questions[index]));
  };

  const follow = () => {
    const named = location.hash ? byId(location.hash.slice(1)) : null;
    if (named?.matches("details.question")) {
      named.open = true;
      named.scrollIntoView();
    }
  };

  questions.forEach((question) => question.addEventListener("toggle", label));
  open.addEventListener("click", () => {
    const all = allOpen();
    visible().forEach((question) => { question.open = !all; });
    label();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  [relation, verdict, different, field].forEach((control) => control?.addEventListener("change", filter));
  [order, falling].forEach((control) => control?.addEventListener("change", sort));
  text.addEventListener("input", filter);
  addEventListener("hashchange", follow);
  byId("filters").hidden = false;
  filter();
  follow();
})();
