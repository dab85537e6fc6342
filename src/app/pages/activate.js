// Takes the one-time code out of the address at once, so that neither a copied address nor a glance
// over the shoulder has it, and trades it for a password and a session. Until then this tab's entry
// remembers it, so that loading the page again loses nothing.
import { api, byId, onSubmit, passwordsAgree, showCodes } from "./api.js";

const code = new URLSearchParams(location.search).get("code") ?? history.state?.code;
history.replaceState({ code }, "", "/activate");

const form = byId("activate-form");
form.hidden = !code;
byId("no-code").hidden = Boolean(code);

onSubmit(form, form.querySelector(".problem"), async () => {
    const { password, again, grant } = form.elements;
    if (!passwordsAgree(password, again)) return;
    const info = await api("POST", "/account/activate", {
        code,
        password: password.value,
        grant_key_provisioning: grant.checked,
    });
    history.replaceState(null, "", "/activate");
    form.hidden = true;
    showCodes(byId("codes"), info.recovery_codes, () => location.replace("/"));
});
