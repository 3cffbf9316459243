// Reads conversations from what was typed, pasted or opened, in the browser.
// `server/detect/reading.py` reads the same way for browsers without scripts.

import { tableConversations, tableOf, turnColumns } from "./columns.js";
import { tableRows } from "./delimited.js";
import { beginsEntry, isTelegram, readTelegram, readWhatsapp } from "./exports.js";

const SPOKEN = /^([^\s:][^:]{0,39}?):\s+(.*)$/s;
// Direction marks, except the one that marks WhatsApp's own entries.
const MARKS = /[\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** `{format, conversations: [{name, turns: [{speaker, text}]}], leftOut, table, columns}`. `chosen` are columns. */
export function read(text, name = "", chosen = null) {
  const marked = text.replace(MARKS, "").replace(/[\u202f\u00a0]/g, " ").replace(/\r\n?/g, "\n").replace(/^[ \n\u200e]+|[ \n\u200e]+$/g, "");
  const clean = marked.replaceAll("\u200e", "");
  if (!clean.trim()) return { format: "lines", conversations: [], leftOut: 0 };
  const values = "{[".includes(clean[0]) ? jsonValues(clean) : null;
  if (values) return ofJson(values, chosen);
  const lines = clean.split("\n");
  const stamped = lines.filter(beginsEntry).length;
  if (stamped && stamped * 4 >= lines.length) return { format: "whatsapp", ...readWhatsapp(marked.split("\n")) };
  const rows = tableRows(clean, name);
  if (rows) return ofTable(clean.includes("\t") ? "tsv" : "csv", rows, chosen);
  const turns = lines.filter((line) => line.trim()).map((line) => lineTurn(line.trim()));
  return { format: "lines", conversations: [{ name: "conversation", turns }], leftOut: 0 };
}

function lineTurn(line) {
  const spoken = SPOKEN.exec(line);
  // A long "speaker" is a sentence.
  if (spoken && spoken[1].trim().split(/\s+/).length <= 4) return { speaker: spoken[1].trim(), text: spoken[2].trim() };
  return { speaker: null, text: line };
}

function ofTable(format, rows, chosen, header = chosen ? chosen.header : null) {
  const table = tableOf(rows, header);
  const columns = chosen ?? table.guess;
  return { format, conversations: tableConversations(table, columns), leftOut: 0, table, columns };
}

const isTurns = (value) => Array.isArray(value) && value.length > 0 && value.every((turn) => typeof turn === "string");

/** The values of a JSON document or of JSON lines; null for other text, such as "[12.01.24, ...". */
function jsonValues(text) {
  try {
    const whole = JSON.parse(text);
    return Array.isArray(whole) && !isTurns(whole) ? whole : [whole];
  } catch {
    const values = [];
    for (const [index, line] of text.split("\n").entries()) {
      if (!line.trim()) continue;
      try {
        values.push(JSON.parse(line));
      } catch {
        if (index === 0) return null;
        throw new Error(`line ${index + 1} is not valid JSON`);
      }
    }
    return values;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listed = (value) => (isObject(value) ? value.turns ?? value.messages : value);
const cell = (value) => (typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value));

function ofJson(values, chosen) {
  if (isTelegram(values[0])) return { format: "telegram", ...readTelegram(values[0]) };
  const found = (conversations) => ({ format: "json", conversations, leftOut: 0 });
  if (values.length && values.every((value) => typeof value === "string")) {
    return found([{ name: "conversation", turns: values.map((text) => ({ speaker: null, text })) }]);
  }
  if (values.some((value) => Array.isArray(listed(value)))) return found(values.map(jsonConversation));
  if (!values.every(isObject)) throw new Error('expected conversations: lists of turns, or objects with "turns" or "text"');
  const names = [...new Set(values.flatMap(Object.keys))];
  const rows = values.map((value) => names.map((name) => cell(value[name])));
  return ofTable("json", [names, ...rows], chosen, true);
}

function jsonConversation(value, index) {
  const turns = listed(value) ?? turnColumns(Object.keys(value)).map((name) => value[name]).filter(Boolean);
  if (!Array.isArray(turns) || !turns.length) throw new Error(`conversation ${index + 1} has no turns: expected a list, or "turns"`);
  return { name: String(value.id ?? value.name ?? index + 1), turns: turns.map((turn) => jsonTurn(turn, index + 1)) };
}

function jsonTurn(value, number) {
  const text = typeof value === "string" ? value : value?.text ?? value?.utterance ?? value?.content;
  if (typeof text !== "string") throw new Error(`conversation ${number}: a turn must be a string, or an object with "text"`);
  const speaker = value.speaker ?? value.from ?? value.author ?? value.role ?? null;
  return { speaker: speaker === null ? null : String(speaker), text };
}

/** A conversation as text for the input box. */
export function write(turns) {
  return turns.map(({ speaker, text }) => (speaker ? `${speaker}: ` : "") + text.replace(/\s*\n\s*/g, " ")).join("\n");
}
