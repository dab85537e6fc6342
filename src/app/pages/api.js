// Speaking with the server, and showing what it says: requests, refusals, the question for a fresh
// proof of identity, and the building of elements. Nothing here ever writes HTML from text, because
// much of the text comes from agents.

export const byId = (id) => document.getElementById(id);

// A refusal in the server's own words; `status` 0 means that no answer came.
export class Refusal extends Error {
    constructor(status, { code, message, next_step, problems }) {
        super(message);
        Object.assign(this, { status, code, nextStep: next_step, problems: problems ?? [] });
    }
}

const ANSWER_WAIT_MS = 15000;

// The text of the answer; throws a Refusal for everything but success.
export async function apiText(method, path, body) {
    let response;
    let text;
    try {
        response = await fetch(path, {
            method,
            credentials: "same-origin",
            cache: "no-store",
            headers: body ? { "Content-Type": "application/json" } : {},
            body: body ? JSON.stringify(body) : undefined,
            signal: AbortSignal.timeout(ANSWER_WAIT_MS),
        });
        text = await response.text();
    } catch {
        throw new Refusal(0, {
            code: "no_answer",
            message: "The server did not answer; the request may or may not have arrived.",
            next_step: "Check that it runs and look at the state before trying again.",
        });
    }
    if (response.ok) return text;
    let error;
    try {
        error = JSON.parse(text).error;
    } catch {
        error = undefined;
    }
    throw new Refusal(response.status, error ?? {
        code: `http_${response.status}`,
        message: "The answer could not be read.",
        next_step: "Load the page again.",
    });
}

export const api = async (...request) => JSON.parse(await apiText(...request));

// el("p", {className: "quiet"}, "text", otherElement)
export function el(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
}

// Characters that do not show, or that turn the direction of what follows, could make a text read
// as another than it is.
export const visible = (text) =>
    String(text).replace(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

export function when(timestamp) {
    const text = new Date(timestamp).toLocaleString(undefined, {
        dateStyle: "medium",
        timeStyle: "medium",
    });
    return el("time", { dateTime: timestamp, title: timestamp }, text);
}

// Message, next step, code.
export function showProblem(place, error) {
    if (!(error instanceof Refusal)) throw error;
    place.replaceChildren(
        el("p", { className: "message" }, visible(error.message)),
        ...error.problems
            .map((one) => `${one.path}: ${one.problem}`)
            .filter((text) => text !== error.message)
            .map((text) => el("p", {}, visible(text))),
        el("p", {}, visible(error.nextStep ?? "")),
        el("p", { className: "quiet" }, el("code", {}, visible(error.code))));
}

// One action at a time per button; a refusal appears in `place` and leaves the input as it is.
export async function act(button, place, action) {
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    try {
        await action();
        place.replaceChildren();
    } catch (error) {
        showProblem(place, error);
    } finally {
        button.ariaDisabled = null;
    }
}

export function onSubmit(form, place, action) {
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        act(form.querySelector("button"), place, action);
    });
}

// Says so at the second field when the two differ.
export function passwordsAgree(password, again) {
    const same = password.value === again.value;
    again.setCustomValidity(same ? "" : "The two passwords differ.");
    again.reportValidity();
    for (const input of [password, again]) input.oninput = () => again.setCustomValidity("");
    return same;
}

// Recovery codes, this once; `then` follows when the human has put them away.
export function showCodes(place, codes, then) {
    const stored = el("button", { type: "button", className: "primary" }, "I have stored them");
    stored.addEventListener("click", () => {
        place.replaceChildren();
        place.hidden = true;
        then();
    });
    place.hidden = false;
    place.replaceChildren(
        el("h2", { tabIndex: -1 }, "Your recovery codes"),
        el("p", {}, "Should you lose your password or your app, one of these lets you set a new " +
            "password. Each is good once. Keep them apart from the password; they are not shown " +
            "again."),
        el("ol", { className: "codes" }, ...codes.map((code) =>
            el("li", {}, el("code", {}, visible(code))))),
        stored);
    place.querySelector("h2").focus();
}

// Asks for the password; true once the server took it, false when the human gave up.
function proveIdentity(why) {
    const dialog = byId("proof");
    const form = byId("proof-form");
    const place = form.querySelector(".problem");
    byId("proof-why").textContent = why;
    form.reset();
    place.replaceChildren();
    dialog.showModal();
    return new Promise((resolve) => {
        let proved = false;
        form.onsubmit = (event) => {
            event.preventDefault();
            act(form.querySelector("button"), place, async () => {
                await api("POST", "/account/reauthenticate", {
                    password: form.elements.password.value,
                });
                proved = true;
                dialog.close();
            });
        };
        byId("proof-cancel").onclick = () => dialog.close();
        dialog.onclose = () => {
            form.reset();
            resolve(proved);
        };
    });
}

// A request that may need a fresh proof of identity: asks for it, and tries once more.
export async function apiWithProof(...request) {
    try {
        return await api(...request);
    } catch (error) {
        if (error.code !== "reauthentication_required" || !(await proveIdentity(error.message))) {
            throw error;
        }
        return api(...request);
    }
}
