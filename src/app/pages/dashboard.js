// The desk of one tenant: stop and release, approvals, audit, keys, the human's own account. The
// server decides everything; this page shows what it says and asks again every two seconds.
import { Refusal, act, api, apiText, apiWithProof, byId, el } from "./api.js";
import { onSubmit, showCodes, showProblem, visible, when } from "./api.js";
import { indented, rawElements, rawMember } from "./raw_json.js";

const POLL_MS = 2000;
const AUDIT_SHOWN = 50;
const SYSTEM = "_system"; // Its switch stops every tenant.

let session = null; // Nobody is logged in while this is null.
let tenant = "";
let round = 0; // The latest look at the server; what an earlier one brings is dropped.

const path = (rest) => `/api/${encodeURIComponent(tenant)}/${rest}`;
const done = (text) => { byId("done").textContent = text; };

// Names for principals: "human:hum_…" is an email address, "agent:key_…" the label of a key.
const names = new Map([["operator:local", "the operator"]]);
const name = (principal) =>
    el("span", { title: principal }, visible(names.get(principal) ?? principal));
const tenantName = (id) => (id === SYSTEM ? "All tenants" : id);

// Leaves nothing of one tenant on the page for whoever looks next.
function clearDesk() {
    round += 1;
    approvalCards.clear();
    lastSeq = -1;
    for (const list of ["approval-list", "audit-list", "key-list", "new-key", "kill-why", "held-list", "people-list"]) {
        byId(list).replaceChildren();
    }
    for (const place of document.querySelectorAll("#desk .problem")) place.replaceChildren();
    byId("new-key").hidden = true;
    byId("trading-form").hidden = true;
    byId("kill-word").textContent = "…";
    byId("kill").classList.remove("running", "stopped");
    done("");
}

function showLogin() {
    session = null;
    document.title = "Interlock";
    waitingShown = "";
    noticesShown = "";
    byId("notices").replaceChildren();
    clearDesk();
    byId("desk").hidden = true;
    byId("login").hidden = false;
    byId("login-form").elements.email.focus();
}

function showSession(info) {
    session = info;
    byId("who").textContent = info.email;
    for (const input of document.querySelectorAll(".username")) input.defaultValue = info.email;
    byId("session").replaceChildren("Logged in until ", when(info.expires_at), ".");
    byId("totp-state").textContent = info.two_factor
        ? "On: a login needs a code as well."
        : "Off: the password alone is enough to log in.";
    byId("totp-start").hidden = info.two_factor;
    byId("totp-form").hidden = true;
    byId("totp-key").textContent = "";
    byId("totp-link").removeAttribute("href");
    byId("totp-end").hidden = !info.two_factor;
    byId("codes-state").textContent = info.recovery_codes_left > 0
        ? `${info.recovery_codes_left} left, to get back in without password or app.`
        : "None: should you lose password or app, somebody else has to help you back in.";
    showNotices(info);
}

let noticesShown = ""; // Drawn anew only when they change, or a screen reader would repeat them.

// What everybody of a tenant must hear: whose login somebody recovers, and whose vote rests.
function showNotices(info) {
    const shown = JSON.stringify([info.recoveries, info.second_factor_due]);
    if (shown === noticesShown) return;
    noticesShown = shown;
    const own = (notice) => notice.human_id === info.human_id;
    const text = (notice) => {
        if (notice.state !== "recovered") {
            return el("span", {}, `The login of ${visible(notice.email)} is to be recovered, started by `,
                name(notice.started_by), ". Its code is good from ", when(notice.good_from), " until ",
                when(notice.expires_at), ".",
                notice.reason ? ` Reason given: “${visible(notice.reason)}”.` : "");
        }
        const whose = own(notice) ? "Your login" : `The login of ${visible(notice.email)}`;
        return el("span", {}, `${whose} was recovered; its vote rests until `,
            when(notice.vote_rests_until),
            own(notice) && info.second_factor_due
                ? " and until an authenticator app is set up again." : ".");
    };
    byId("notices").replaceChildren(...info.recoveries.map((notice) => {
        const line = el("p", { className: "notice" }, text(notice));
        if (notice.state === "recovered") return line;
        const button = el("button", { type: "button" }, "Object");
        button.addEventListener("click", () => act(button, byId("people-problem"), async () => {
            await api("DELETE", `/api/${encodeURIComponent(notice.tenant_id)}/humans/` +
                `${encodeURIComponent(notice.human_id)}/recovery`);
            done(`The recovery of ${visible(notice.email)} has ended.`);
            await refreshSession();
        }));
        line.append(" ", button);
        return line;
    }));
}

async function refreshSession() {
    showNotices(session = await api("GET", "/account/session"));
    await refreshHumans();
}

function showDesk(info) {
    showSession(info);
    const tenants = [...info.tenants].sort((a, b) => (a === SYSTEM) - (b === SYSTEM));
    byId("tenant").replaceChildren(
        ...tenants.map((id) => el("option", { value: id }, tenantName(id))));
    byId("login").hidden = true;
    byId("desk").hidden = false;
    chooseTenant(tenants[0] ?? "");
}

async function chooseTenant(id) {
    tenant = id;
    clearDesk();
    byId("keys").hidden = id === SYSTEM;
    if (!id) {
        done("You belong to no tenant; ask a human of yours to invite you.");
        return;
    }
    try {
        await Promise.all([refreshHumans(), id === SYSTEM || refreshKeys()]);
    } catch (error) {
        showProblem(byId("key-problem"), error);
    }
    poll();
}

async function refreshHumans() {
    const { humans } = await api("GET", path("humans"));
    for (const human of humans) names.set(`human:${human.human_id}`, human.email);
    byId("people-list").replaceChildren(...humans.map(personRow));
}

function personRow(human) {
    const row = el("li", {},
        el("span", {}, el("strong", {}, visible(human.email)), " ",
            el("span", { className: "quiet" }, human.state)));
    if (human.state !== "active" || human.human_id === session.human_id) return row;
    const button = el("button", { type: "button" }, "Help back in");
    button.setAttribute("aria-label", `Help ${human.email} back in`);
    button.addEventListener("click", () => act(button, byId("people-problem"), async () => {
        if (!confirm(`A code goes by letter to ${visible(human.email)}, to set a new password. ` +
            "Everybody of the tenant hears of it, and from then on the two of you count as one " +
            "person where two are needed. Go on?")) return;
        await apiWithProof("POST", path(`humans/${encodeURIComponent(human.human_id)}/recovery`), {});
        done(`A code for ${visible(human.email)} is on its way by letter.`);
        await refreshSession();
    }));
    row.append(button);
    return row;
}

onSubmit(byId("login-form"), byId("login-form").querySelector(".problem"), async () => {
    const form = byId("login-form");
    const { email, password, totp } = form.elements;
    const body = { email: email.value, password: password.value };
    if (totp.value) body.totp = totp.value;
    const info = await api("POST", "/account/login", body);
    form.reset();
    showDesk(info);
    byId("kill-title").focus(); // The field that had it is gone.
});

byId("logout").addEventListener("click", () =>
    act(byId("logout"), byId("account-problem"), async () => {
        await api("POST", "/account/logout");
        showLogin();
    }));
byId("tenant").addEventListener("change", () => chooseTenant(byId("tenant").value));

let blocked = null; // Why nothing of this tenant trades, as shown; null while it does.

// What trades although single strategies do not; nothing to add while all of it stands still.
function showHeld(strategies) {
    const held = blocked ? [] : strategies.filter((one) => one.blocked);
    const list = byId("held-list");
    list.replaceChildren(...held.map((one) => el("li", {},
        `${visible(one.name)}: ${visible(one.blocked.reason)} `,
        el("span", { className: "quiet" }, visible(one.blocked.next)))));
    list.hidden = held.length === 0;
}

function showKill(status) {
    const own = tenant === SYSTEM ? status.global_active : status.tenant_active;
    byId("kill").classList.toggle("stopped", status.active);
    byId("kill").classList.toggle("running", !status.blocked);
    let word = status.blocked ? "Not trading" : "Trading";
    if (status.active) word = status.global_active ? "Stopped for all tenants" : "Stopped";
    // Set only when it changes, or a screen reader would say it every two seconds.
    if (byId("kill-word").textContent !== word) byId("kill-word").textContent = word;
    const why = byId("kill-why");
    why.replaceChildren();
    if (status.active) {
        why.append(el("p", {}, visible(status.reason)));
        const facts = el("p", { className: "quiet" });
        if (status.by) facts.append("By ", name(status.by));
        if (status.since) facts.append(", ", when(status.since), ". ");
        if (status.release_approval_id) facts.append("The release waits for approval below.");
        else if (!own) facts.append(`It is released under “${tenantName(SYSTEM)}”.`);
        why.append(facts);
    } else if (status.blocked) {
        why.append(el("p", {}, visible(status.blocked.reason)),
            el("p", { className: "quiet" }, visible(status.blocked.next)));
    } else {
        why.append(...(status.warnings ?? []).map((one) => el("p", {}, visible(one))));
    }
    blocked = status.blocked;
    // What another level holds off is not ours to turn on.
    const isOff = (tenant === SYSTEM ? ["disabled_for_all"] : ["disabled", "account_disabled"])
        .includes(blocked?.code);
    byId("trading-form").hidden = status.active || (blocked !== null && !isOff);
    byId("trading-button").textContent = isOff ? "Enable trading" : "Turn trading off";
    byId("stop-form").hidden = own;
    byId("release-form").hidden = !own || Boolean(status.release_approval_id);
}

// Never held back by an earlier press: stopping twice is harmless, a dead button is not.
byId("stop-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const input = event.target.elements.reason;
    try {
        showKill(await api("POST", path("kill"), { active: true, reason: input.value }));
        byId("kill-problem").replaceChildren();
        input.value = "";
        done(`Stopped: nothing more leaves for ${tenant === SYSTEM ? "any tenant" : tenant}.`);
        poll();
    } catch (error) {
        showProblem(byId("kill-problem"), error);
        byId("kill-problem").append(el("p", {},
            "It can also be stopped with “interlock kill on”, or by creating a file named KILL in " +
            "the data folder, which works even when the server hangs."));
    }
});

// Only what is shown is done: what was on or off when the button was pressed.
onSubmit(byId("trading-form"), byId("kill-problem"), async () => {
    const enabled = blocked !== null;
    const answer = await apiWithProof("POST", path("trading"), {
        enabled, idempotency_key: newAttempt() });
    if (!enabled) done("Trading is off. Open orders stay until somebody cancels them or stops.");
    else done(answer.blocked ? `Enabled, but: ${visible(answer.blocked.reason)}` : "Trading is on.");
    await poll();
});

onSubmit(byId("release-form"), byId("kill-problem"), async () => {
    const { reason: input, enable } = byId("release-form").elements;
    showKill(await api("POST", path("kill"), {
        active: false, reason: input.value, enable_trading: enable.checked }));
    input.value = "";
    done("The release waits for a human's approval.");
    await poll();
    byId("approvals-title").focus();
});

const approvalCards = new Map(); // By approval_id: {raw, card}. A card keeps its half-typed comment.

function approvalCard(raw) {
    const approval = JSON.parse(raw);
    const place = el("div", { className: "problem", role: "alert" });
    const comment = el("input", { maxLength: 500, autocomplete: "off" });
    const decide = (word, text, className) => {
        const button = el("button", { type: "button", className }, text);
        button.addEventListener("click", () => act(button, place, async () => {
            const answer = await apiWithProof(
                "POST",
                path(`approvals/${encodeURIComponent(approval.approval_id)}/${word}`),
                { comment: comment.value, subject_hash: approval.subject_hash });
            done(answer.state === "pending"
                ? "Your approval counts; another human has to approve as well."
                : `${word === "approve" ? "Approved" : "Rejected"}: ${visible(answer.summary)}`);
            await poll();
            if (approval.kind === "kill_release" && answer.state === "consumed" && blocked) {
                done(`Released, but nothing trades yet. ${visible(blocked.reason)}`);
            }
            byId("approvals-title").focus();
        }));
        return button;
    };
    return el("article", {},
        el("h3", {}, visible(approval.summary)),
        el("p", { className: "quiet" },
            `${visible(approval.kind)}, asked for by `, name(approval.requested_by), ", ",
            when(approval.created_at), "; expires ", when(approval.expires_at),
            `; ${approval.approvals.length} of ${approval.required} approvals given`),
        el("pre", { tabIndex: 0 }, indented(rawMember(raw, "payload"))),
        el("p", { className: "quiet hash" },
            "This and nothing else will be carried out. SHA-256 ",
            el("code", {}, visible(approval.subject_hash))),
        el("label", {}, "Comment", comment),
        el("div", { className: "buttons" },
            decide("approve", "Approve", "primary"), decide("reject", "Reject", "")),
        place);
}

function showApprovals(text) {
    const raws = rawElements(rawMember(text, "approvals"));
    const list = byId("approval-list");
    const seen = new Set();
    raws.forEach((raw, index) => {
        const id = JSON.parse(rawMember(raw, "approval_id"));
        seen.add(id);
        const known = approvalCards.get(id);
        if (known?.raw !== raw) {
            const card = approvalCard(raw);
            known?.card.remove();
            approvalCards.set(id, { raw, card });
        }
        const { card } = approvalCards.get(id);
        if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
    });
    for (const [id, { card }] of approvalCards) {
        if (!seen.has(id)) {
            card.remove();
            approvalCards.delete(id);
        }
    }
    byId("no-approvals").hidden = raws.length > 0;
    return raws.length;
}

const ELSEWHERE_MAX = 8; // Other tenants that are asked each time.

// How many approvals wait at the human's other tenants: [{id, count}] of those where any do.
async function waitingElsewhere() {
    const others = session.tenants.filter((id) => id !== tenant)
        .sort((a, b) => (b === SYSTEM) - (a === SYSTEM)).slice(0, ELSEWHERE_MAX);
    const counts = await Promise.all(others.map(async (id) => {
        try {
            const { approvals } = await api(
                "GET", `/api/${encodeURIComponent(id)}/approvals?state=pending`);
            return { id, count: approvals.length };
        } catch (error) {
            // Whoever left a tenant meanwhile still sees this one.
            if (error.status === 403 || error.status === 404) return { id, count: 0 };
            throw error;
        }
    }));
    return counts.filter(({ count }) => count > 0);
}

let waitingShown = ""; // Drawn anew only when it changes, or focus and screen readers would jump.

// The title counts what waits anywhere, so that a tab in the background shows it.
function showWaiting(here, elsewhere) {
    const total = elsewhere.reduce((sum, { count }) => sum + count, here);
    document.title = total > 0 ? `(${total}) Interlock` : "Interlock";
    const shown = JSON.stringify([tenant, elsewhere]);
    if (shown === waitingShown) return;
    waitingShown = shown;
    byId("elsewhere").hidden = elsewhere.length === 0;
    byId("elsewhere").replaceChildren(...elsewhere.map(({ id, count }) => {
        const button = el("button", { type: "button" },
            `${count} ${count === 1 ? "waits" : "wait"} under “${visible(tenantName(id))}”`);
        button.addEventListener("click", () => {
            byId("tenant").value = id;
            chooseTenant(id);
            byId("approvals-title").focus();
        });
        return button;
    }));
}

let lastSeq = -1; // Nothing read yet.

function auditItem(raw) {
    const record = JSON.parse(raw);
    const item = el("details", {},
        el("summary", {},
            el("span", { className: "seq" }, `#${record.seq}`),
            when(record.timestamp),
            el("strong", { className: record.severity }, visible(record.event)),
            name(record.principal),
            el("span", {}, visible(record.status)),
            el("span", { className: "reason" }, visible(record.reason))));
    item.addEventListener("toggle", () => {
        if (item.children.length === 1) item.append(el("pre", { tabIndex: 0 }, indented(raw)));
    });
    return el("li", {}, item);
}

async function refreshAudit(mine) {
    const page = (after) => apiText("GET", path(`audit?limit=${AUDIT_SHOWN}${after}`));
    let text = await page(lastSeq < 0 ? "" : `&after=${lastSeq}`);
    const list = byId("audit-list");
    const head = Number(rawMember(text, "head_seq"));
    const behind = lastSeq >= 0 && head - lastSeq > AUDIT_SHOWN;
    if (behind) text = await page(""); // More came than we show: begin anew with the newest.
    if (mine !== round) return;
    const raws = rawElements(rawMember(text, "records"));
    if (behind) list.replaceChildren();
    list.prepend(...raws.map(auditItem).reverse());
    while (list.children.length > AUDIT_SHOWN) list.lastElementChild.remove();
    const newest = raws.length > 0 ? Number(rawMember(raws.at(-1), "seq")) : lastSeq;
    lastSeq = Math.max(newest, 0);
}

let timer = 0;

// One look at everything that changes by itself. What cannot be refreshed is marked as old: a stop
// that is no longer true must not look true.
async function poll() {
    clearTimeout(timer);
    if (!session || !tenant) return;
    const mine = ++round;
    try {
        const [kill, instances, approvals, info, elsewhere] = await Promise.all([
            api("GET", path("kill")),
            tenant === SYSTEM ? { strategies: [] } : api("GET", path("instances")),
            apiText("GET", path("approvals?state=pending")),
            api("GET", "/account/session"),
            waitingElsewhere(),
            refreshAudit(mine),
        ]);
        if (mine !== round) return;
        showKill(kill);
        showHeld(instances.strategies);
        showWaiting(showApprovals(approvals), elsewhere);
        showNotices(info);
        byId("stale").hidden = true;
    } catch (error) {
        if (mine !== round) return;
        if (!(error instanceof Refusal)) throw error;
        if (error.status === 401) {
            showLogin();
            return;
        }
        if (byId("stale").hidden) {
            byId("stale").hidden = false;
            byId("stale").replaceChildren(
                "Since ", when(new Date().toISOString()), " this page shows an old state. ",
                `${visible(error.message)} Trying again. (${visible(error.code)})`);
        }
    }
    timer = setTimeout(poll, POLL_MS);
}
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) poll();
});

function keyRow(key) {
    const row = el("li", {},
        el("span", {}, el("strong", {}, visible(key.label)), ` …${visible(key.hint)} `,
            el("span", { className: "quiet" },
                `${key.scopes.join(", ")}; ${key.revoked_at ? "revoked" : "since"} `,
                when(key.revoked_at ?? key.created_at))));
    if (key.revoked_at) return row;
    const button = el("button", {}, "Revoke");
    button.setAttribute("aria-label", `Revoke ${key.label}`);
    button.addEventListener("click", () => act(button, byId("key-problem"), async () => {
        if (!confirm(`Revoke the key of “${visible(key.label)}” for good?`)) return;
        await api("DELETE", path(`keys/${encodeURIComponent(key.key_id)}`));
        done(`The key of “${visible(key.label)}” is refused from now on.`);
        await refreshKeys();
    }));
    row.append(button);
    return row;
}

async function refreshKeys() {
    const asked = tenant;
    const { keys } = await api("GET", path("keys"));
    for (const key of keys) names.set(`agent:${key.key_id}`, `agent “${key.label}”`);
    if (asked === tenant) byId("key-list").replaceChildren(...keys.map(keyRow));
}

// Kept until the server has answered: a repeated request must not make a second key.
let attempt = "";
const newAttempt = () =>
    "page-" + [...crypto.getRandomValues(new Uint8Array(16))]
        .map((byte) => byte.toString(16).padStart(2, "0")).join("");

function showNewKey(made) {
    const place = byId("new-key");
    place.hidden = false;
    if (made.access_key === null) {
        place.replaceChildren("This key was made before and cannot be shown again: revoke it.");
        return;
    }
    const hide = el("button", { type: "button" }, "I have stored it");
    hide.addEventListener("click", () => {
        place.replaceChildren();
        place.hidden = true;
    });
    place.replaceChildren(
        el("p", {}, "Store this key now; it is not shown again."),
        el("p", {}, el("code", {}, made.access_key)), hide);
}

onSubmit(byId("key-form"), byId("key-problem"), async () => {
    const form = byId("key-form");
    const scopes = [...form.querySelectorAll("[name=scope]:checked")].map((box) => box.value);
    attempt ||= newAttempt();
    try {
        const label = form.elements.label.value;
        showNewKey(await api("POST", path("keys"), { label, scopes, idempotency_key: attempt }));
        attempt = "";
    } catch (error) {
        if (error.status !== 0) attempt = "";
        throw error;
    }
    form.reset();
    await refreshKeys();
});

byId("codes-new").addEventListener("click", () =>
    act(byId("codes-new"), byId("account-problem"), async () => {
        const made = await apiWithProof("POST", "/account/recovery-codes");
        showCodes(byId("codes"), made.recovery_codes, () => byId("codes-new").focus());
        byId("codes-state").textContent = `${made.recovery_codes.length} left.`;
    }));

byId("totp-start").addEventListener("click", () =>
    act(byId("totp-start"), byId("account-problem"), async () => {
        const made = await apiWithProof("POST", "/account/totp/enrol");
        byId("totp-key").textContent = made.key.replace(/(.{4})(?=.)/g, "$1 ");
        byId("totp-link").href = made.uri;
        byId("totp-start").hidden = true;
        byId("totp-form").hidden = false;
        byId("totp-form").elements.totp.focus();
    }));

// Turning it on and off are the same: send the one field, show the session as it then is.
function onTotpSubmit(id, verb, field, said) {
    onSubmit(byId(id), byId("account-problem"), async () => {
        const input = byId(id).elements[field];
        showSession(await api("POST", `/account/totp/${verb}`, { [field]: input.value }));
        input.value = "";
        done(said);
    });
}
onTotpSubmit("totp-form", "confirm", "totp", "The authenticator app is set up.");
onTotpSubmit("totp-end", "disable", "password", "Logins no longer ask for a code.");

try {
    showDesk(await api("GET", "/account/session"));
} catch (error) {
    showLogin();
    if (error.status !== 401) showProblem(byId("login-form").querySelector(".problem"), error);
}
