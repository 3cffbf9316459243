// Interactive results: filter rows, open a row from the chart, explain a label.

import { explainRow } from "./explain.js";

/** Shows new results in `root`, and keeps its filters and open rows. */
export function wireResults(root, question, nodes) {
  const before = [...root.querySelectorAll(".filters [class^=filter-]")].map((field) => [field.className, field.value]);
  const open = [...root.querySelectorAll(".turn details[open]")].map((details) => details.id);
  root.replaceChildren(...nodes);
  const rows = [...root.querySelectorAll(".turn")];
  for (const row of rows) {
    const details = row.querySelector("details");
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".scores button")) {
        explainRow(details, turnsUpTo(question, Number(details.dataset.index)), question);
      }
    });
    if (open.includes(details.id)) details.open = true;
  }
  for (const column of root.querySelectorAll(".timeline .column")) {
    column.addEventListener("click", () => {
      const details = rows[Number(column.dataset.index)].querySelector("details");
      details.open = true;
      details.closest("tr").hidden = false;
      details.querySelector("summary").focus();
    });
  }
  wireFilters(root, rows, before);
}

const turnsUpTo = ({ dialogues, each_turn, skip }, index) =>
  each_turn ? dialogues[0].turns.slice(0, skip + index + 1) : dialogues[index].turns;

function wireFilters(root, rows, before) {
  const bar = root.querySelector(".filters");
  bar.hidden = rows.length < 2;
  for (const [name, value] of before) {
    const field = bar.querySelector(`.${name}`);
    if (!field) continue;
    if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value)) field.value = value;
  }
  const value = (name) => bar.querySelector(`.filter-${name}`)?.value ?? "";
  const speakers = [...(bar.querySelector(".filter-speaker")?.options ?? [])];
  const apply = () => {
    const words = value("text").toLowerCase();
    const everyone = !speakers.length || speakers[0].selected;
    for (const row of rows) {
      const { label, speaker, sure } = row.dataset;
      row.hidden = !(
        row.querySelector("summary").textContent.toLowerCase().includes(words) &&
        (everyone || speaker === value("speaker")) &&
        (!value("label") || label === value("label")) &&
        Number(sure) >= Number(value("sure"))
      );
    }
    const shown = rows.filter((row) => !row.hidden).length;
    bar.querySelector(".shown").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
  };
  bar.addEventListener("input", apply);
  apply();
}
