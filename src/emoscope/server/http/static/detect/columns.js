// Guesses which columns of a table contain texts, speakers and conversations, and reads the conversations.
// `server/detect/columns.py` does the same.

const TEXTS = ["text", "message", "utterance", "content", "body", "msg", "comment", "sentence", "tweet"];
const SPEAKERS = ["speaker", "author", "from", "sender", "user", "username", "name", "role", "who"];
const CONVERSATIONS = ["conversation", "dialogue", "dialog", "thread", "chat", "session"];
const TURN = /^turn_?(\d+)$/i;

export const namesText = (names) => names.some((name) => TEXTS.includes(name.toLowerCase()) || name === "turns" || TURN.test(name));

/** The columns `turn1`, `turn2`, ... in order, or `turns`. */
export function turnColumns(names) {
  const numbered = names.filter((name) => TURN.test(name)).sort((a, b) => TURN.exec(a)[1] - TURN.exec(b)[1]);
  return numbered.length ? numbered : names.filter((name) => name === "turns");
}

/** `{names, rows, guess}`; the first row may be a header. A column is its index as a string. */
export function tableOf(rows, header = null) {
  const first = rows[0].map((cell) => cell.trim());
  header ??= namesText(first) || looksLikeNames(first, rows.slice(1));
  const names = header ? first : first.map((_, index) => `column ${index + 1}`);
  const kept = header ? rows.slice(1) : rows;
  return { names, rows: kept, guess: guess(names, kept, header) };
}

/** Short single words above rows with longer texts. */
function looksLikeNames(first, rest) {
  const short = first.every((cell) => cell && cell.length <= 30 && !/\s|^\d/.test(cell));
  return short && new Set(first).size === first.length && rest.some((row) => row.some((cell) => cell.trim().includes(" ")));
}

function guess(names, rows, header) {
  const plain = names.map((name) => name.toLowerCase().replace(/[_ -]?(id|no|number)$/, ""));
  const named = (known) => plain.findIndex((name) => known.includes(name));
  if (turnColumns(names).length) return { header, text: "turns", speaker: "", conversation: "rows" };
  const [speaker, conversation] = [named(SPEAKERS), named(CONVERSATIONS)];
  let text = named(TEXTS);
  if (text < 0) {
    const lengths = names.map((_, place) => rows.slice(0, 50).reduce((sum, row) => sum + row[place].length, 0));
    text = lengths.indexOf(Math.max(...lengths)); // the longest texts
  }
  return {
    header,
    text: String(text),
    speaker: speaker < 0 ? "" : String(speaker),
    conversation: conversation >= 0 ? String(conversation) : speaker < 0 ? "rows" : "all",
  };
}

/** The conversations `{name, turns}` of a table, without rows that have no text. */
export function tableConversations({ names, rows }, columns) {
  const ownName = (row, index) => (names.includes("id") ? row[names.indexOf("id")] : String(index + 1));
  if (columns.text === "turns") {
    const places = turnColumns(names).map((name) => names.indexOf(name));
    return rows
      .map((row, index) => ({ name: ownName(row, index), turns: rowTurns(row, places, names, index + 1) }))
      .filter((one) => one.turns.length);
  }
  const place = (column) => (/^\d+$/.test(column) ? Number(column) : null);
  const [text, speaker, group] = [place(columns.text), place(columns.speaker), place(columns.conversation)];
  const every = columns.conversation === "rows";
  const found = new Map();
  rows.forEach((row, index) => {
    if (!row[text].trim()) return;
    const key = every ? index : group === null ? "conversation" : row[group];
    if (!found.has(key)) found.set(key, { name: every ? ownName(row, index) : key, turns: [] });
    found.get(key).turns.push({ speaker: (speaker !== null && row[speaker].trim()) || null, text: row[text].trim() });
  });
  return [...found.values()];
}

function rowTurns(row, places, names, number) {
  const cells = places.map((place) => row[place]);
  if (names[places[0]] === "turns") {
    try {
      return JSON.parse(cells[0] || "[]").map((turn) => (typeof turn === "string" ? { speaker: null, text: turn } : { speaker: turn.speaker ?? null, text: turn.text }));
    } catch {
      throw new Error(`row ${number}: 'turns' is not a JSON list of turns`);
    }
  }
  while (cells.length && !cells.at(-1).trim()) cells.pop();
  return cells.map((cell) => ({ speaker: null, text: cell.trim() }));
}
