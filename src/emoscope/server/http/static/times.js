// Show times in the reader's time zone instead of the challenge's, and count down to the next event.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

// A date without a time is a day in the calendar, the same in every zone.
for (const place of document.querySelectorAll("time[datetime*=T]")) {
  const moment = new Date(place.dateTime);
  if (Number.isNaN(moment.getTime())) continue;
  if (!place.title) place.title = place.textContent;
  place.textContent = (place.dataset.show === "date" ? day : full).format(moment);
}
for (const place of document.querySelectorAll("[data-zone]")) place.textContent = `Times are in your time zone, ${zone}.`;

const plural = (count, unit) => `${count} ${unit}${count === 1 ? "" : "s"}`;

function remaining(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [[Math.floor(seconds / 86400), "day"], [Math.floor(seconds / 3600) % 24, "hour"], [Math.floor(seconds / 60) % 60, "minute"], [seconds % 60, "second"]];
  while (parts.length > 1 && !parts[0][0]) parts.shift();
  return parts.slice(0, 2).filter(([count]) => count).map(([count, unit]) => plural(count, unit)).join(" ");
}

for (const place of document.querySelectorAll("[data-until]")) {
  // By the server's clock, as the reader's may be wrong.
  const ahead = new Date(place.dataset.now).getTime() - Date.now();
  const until = new Date(place.dataset.until).getTime();
  const tick = () => {
    const left = until - (Date.now() + ahead);
    place.textContent = left > 0 ? `in ${remaining(left)}` : "now: reload the page";
    if (left > 0) setTimeout(tick, left > 86400000 ? 60000 : 1000);
  };
  tick();
}
