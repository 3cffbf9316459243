// What was typed, kept over a reload of this tab. It is forgotten when the tab is closed.

const KEY = "emoscope-detect";
const MOST = 500_000; // characters; a browser keeps about five million for a site

export function saveDraft(draft) {
  try {
    const text = JSON.stringify(draft);
    if (text.length <= MOST) sessionStorage.setItem(KEY, text);
  } catch {
    // A browser that keeps nothing: the page works without.
  }
}

export function loadDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}
