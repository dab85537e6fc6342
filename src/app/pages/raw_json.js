// Takes JSON text apart without changing it. A human approves exact bytes, and JSON.parse would turn
// 1.10 into 1.1 and round long numbers: what is shown must be what was hashed.
import { visible } from "./api.js";

// The parts of an object's or array's text: member or element texts, trimmed.
function partsOf(text) {
    const inner = text.trim().slice(1, -1);
    const parts = [];
    let depth = 0;
    let start = 0;
    // Strings are stepped over whole, so only brackets and commas of the structure are seen.
    for (const { 0: token, index } of inner.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
        if (token === "[" || token === "{") depth += 1;
        if (token === "]" || token === "}") depth -= 1;
        if (token === "," && depth === 0) {
            parts.push(inner.slice(start, index).trim());
            start = index + 1;
        }
    }
    const last = inner.slice(start).trim();
    return last ? [...parts, last] : parts;
}

function splitMember(text) {
    const key = text.match(/^"(?:[^"\\]|\\.)*"/)[0];
    return [key, text.slice(key.length).replace(/^\s*:\s*/, "")];
}

export const rawElements = partsOf;

// The text of one member of an object's text.
export function rawMember(text, name) {
    const found = partsOf(text).map(splitMember).find(([key]) => JSON.parse(key) === name);
    return found?.[1];
}

// The same JSON over several lines; every number and string as it was written.
export function indented(text, margin = "") {
    const trimmed = text.trim();
    const open = trimmed[0];
    const parts = open === "{" || open === "[" ? partsOf(trimmed) : [];
    if (parts.length === 0) return visible(trimmed);
    const deeper = margin + "  ";
    const lines = parts.map((part) => {
        if (open === "[") return deeper + indented(part, deeper);
        const [key, value] = splitMember(part);
        return `${deeper}${visible(key)}: ${indented(value, deeper)}`;
    });
    return `${open}\n${lines.join(",\n")}\n${margin}${open === "{" ? "}" : "]"}`;
}
