// An invitation stands behind the # of its link, which browsers do not send; it is filled in here.

const invitation = decodeURIComponent(location.hash.slice(1));
if (invitation) document.getElementById("field-invitation").value = invitation;
