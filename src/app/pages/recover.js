// Trades a recovery code for a new password and a session, or asks for the activation letter.
import { api, byId, onSubmit, passwordsAgree, showCodes } from "./api.js";

const form = byId("recover-form");
onSubmit(form, form.querySelector(".problem"), async () => {
    const { email, code, password, again } = form.elements;
    if (!passwordsAgree(password, again)) return;
    const info = await api("POST", "/account/recover", {
        email: email.value,
        code: code.value,
        password: password.value,
    });
    form.reset();
    byId("ways").hidden = true;
    showCodes(byId("codes"), info.recovery_codes, () => location.replace("/"));
});

const letter = byId("letter-form");
onSubmit(letter, letter.querySelector(".problem"), async () => {
    byId("letter-said").textContent = "";
    const answer = await api("POST", "/account/activation-letter", {
        email: letter.elements.email.value,
    });
    byId("letter-said").textContent = answer.message;
});
