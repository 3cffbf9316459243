// Choosing the columns of a table, with a preview.

import { element } from "../api.js";
import { turnColumns } from "./columns.js";

const PREVIEW = 5; // rows

/** Sets up the fieldset of a pane; `changed(columns)` gets the choice. Returns a function that shows a table. */
export function wireColumns(fieldset, changed) {
  const field = (name) => fieldset.querySelector(`[name^=column-${name}]`);
  fieldset.addEventListener("change", () => {
    changed({
      header: field("header").checked,
      text: field("text").value,
      speaker: field("speaker").value,
      conversation: field("conversation").value,
    });
  });

  const fill = (select, options, chosen) => {
    select.replaceChildren(...options.map(([value, words]) => element("option", { value, selected: value === chosen }, words)));
  };

  return ({ format, table, columns }) => {
    fieldset.hidden = !table;
    if (!table) return;
    const named = table.names.map((name, place) => [String(place), name]);
    fill(field("text"), [...(turnColumns(table.names).length ? [["turns", "turn1, turn2, …"]] : []), ...named], columns.text);
    fill(field("speaker"), [["", "none"], ...named], columns.speaker);
    const groups = named.map(([value, name]) => [value, `grouped by ${name}`]);
    fill(field("conversation"), [["rows", "one per row"], ["all", "all rows"], ...groups], columns.conversation);
    field("header").checked = columns.header;
    field("header").closest("label").hidden = format === "json";
    for (const name of ["speaker", "conversation"]) field(name).closest("label").hidden = columns.text === "turns";
    const cells = (tag, row) => row.map((text) => element(tag, { class: "text", scope: tag === "th" ? "col" : null }, text.length > 60 ? `${text.slice(0, 59)}…` : text));
    fieldset.querySelector(".preview").replaceChildren(
      element("tr", {}, ...cells("th", table.names)),
      ...table.rows.slice(0, PREVIEW).map((row) => element("tr", {}, ...cells("td", row))),
    );
  };
}
