// Poll a submission's state until it is final.

const place = document.getElementById("submission");
if (place.dataset.final === "no") watch(500);

function watch(wait) {
  setTimeout(async () => {
    try {
      const response = await fetch(`/submissions/${place.dataset.id}/state`, { headers: { Accept: "application/json" } });
      const answer = await response.json();
      if (answer.final) return location.reload();
    } catch {
      // The server may be restarting; accepted submissions are not lost.
    }
    watch(Math.min(wait * 1.5, 10000));
  }, wait);
}
