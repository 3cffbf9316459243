// Enhances the managers' pages, which work without scripts: live figures, and signing in by link.

const EVERY = 10_000; // milliseconds

const form = document.getElementById("enter");
if (form && location.hash.length > 1) {
  form.elements.token.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname); // keep the token out of the address bar
  form.requestSubmit();
}

for (const field of document.querySelectorAll(".link-field")) field.addEventListener("focus", () => field.select());

async function renew() {
  const live = document.getElementById("live");
  if (!live || document.hidden || live.contains(document.activeElement)) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (answer.ok && fresh && !fresh.isEqualNode(live)) {
      const across = [...live.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
      live.replaceWith(document.adoptNode(fresh));
      fresh.querySelectorAll(".scroll").forEach((box, place) => (box.scrollLeft = across[place] ?? 0));
    }
  } catch {
    // The server is unreachable; try again next time.
  }
}

if (document.getElementById("live")) setInterval(renew, EVERY);
