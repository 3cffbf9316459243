// Detects and splits tables separated by commas, semicolons, vertical bars or tabs.
// `server/detect/delimited.py` does the same.

import { namesText } from "./columns.js";

const DELIMITERS = { csv: [",", ";", "|", "\t"], tsv: ["\t"], tab: ["\t"] }; // by file extension
const NAME = /^[\p{L}_][\p{L}\p{N}_.-]{0,29}$/u;

/** The rows of a table, or null if the text is not a table. Files are recognised by their extension. */
export function tableRows(text, name = "") {
  const first = text.split("\n", 1)[0];
  const named = name.includes(".") ? DELIMITERS[name.split(".").pop().toLowerCase()] : undefined;
  if (named) {
    const count = (delimiter) => first.split(delimiter).length;
    return even(rowsOf(text, named.reduce((best, one) => (count(one) > count(best) ? one : best)), name), name);
  }
  for (const delimiter of ["\t", ",", ";", "|"]) {
    const head = first.split(delimiter).map((cell) => cell.replace(/^"|"$/g, ""));
    if (head.length < 2 || !text.includes("\n")) continue;
    if (head.every((cell) => NAME.test(cell)) && namesText(head)) return even(rowsOf(text, delimiter, "the table"), "the table");
    let rows;
    try {
      rows = rowsOf(text, delimiter, "");
    } catch {
      continue;
    }
    if (looksLikeTable(rows, delimiter)) return rows;
  }
  return null;
}

/** Whether rows without known column names form a table, rather than a chat with commas. */
function looksLikeTable(rows, delimiter) {
  if (rows.length < 2 || rows.some((row) => row.length !== rows[0].length)) return false;
  if (delimiter === "\t") return true; // nobody types tabs in a chat
  const named = rows[0].every((cell) => NAME.test(cell)) && new Set(rows[0]).size === rows[0].length;
  const spaced = rows.some((row) => row.some((cell) => cell.startsWith(" ")));
  return !spaced && (named || rows.length > 2 || rows[0].length > 2);
}

/** The rows that are not blank. Tab-separated chats are not quoted: a single quotation mark is text. */
function rowsOf(text, delimiter, name) {
  if (delimiter === "\t") return text.split("\n").filter((line) => line.trim()).map((line) => line.split("\t"));
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === delimiter) {
      row.push(cell);
      cell = "";
    } else if (letter === "\n") {
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else cell += letter;
  }
  if (quoted) throw new Error(`${name}, row ${rows.length + 1}: a quotation mark is not closed`);
  rows.push([...row, cell]);
  return rows.filter((cells) => cells.some((one) => one.trim()));
}

function even(rows, name) {
  rows.forEach((row, index) => {
    if (row.length !== rows[0].length) {
      throw new Error(`${name}, row ${index + 1}: expected ${rows[0].length} columns, found ${row.length}`);
    }
  });
  return rows;
}
