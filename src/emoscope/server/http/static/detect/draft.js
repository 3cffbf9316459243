// Keeps what was typed when the tab is reloaded, until it is closed.

const KEY = "emoscope-detect";
const MOST = 500_000; // characters; browsers keep about five million per site

export function saveDraft(draft) {
  try {
    const text = JSON.stringify(draft);
    if (text.length <= MOST) sessionStorage.setItem(KEY, text);
  } catch {
    // The browser has no storage; the page works without it.
  }
}

export function loadDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}
