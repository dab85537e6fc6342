#include "app/mcp/mcp_fixture_content.h"

#include "base/bytes.h"
#include "base/check.h"

namespace interlock {
namespace {

Json literal(std::string_view text) {
    Result<Json> json = parse_json(text);
    CHECK(json.has_value());
    return *std::move(json);
}

std::string bytes_of(std::string_view hex) {
    Result<std::string> bytes = from_hex(hex);
    CHECK(bytes.has_value());
    return *std::move(bytes);
}

Json media(std::string type, std::string mime_type, std::string base64) {
    return Json::object(
        {{"type", std::move(type)},
         {"data", std::move(base64)},
         {"mimeType", std::move(mime_type)}});
}

}  // namespace

std::string fixture_png_base64() {
    return to_base64(
        bytes_of("89504e470d0a1a0a"                                    // Signature.
                 "0000000d4948445200000001000000010802000000907753de"  // IHDR: 1 x 1, RGB.
                 "0000000c49444154789c63f8cfc0000003010100c9fe92ef"    // IDAT: one red pixel.
                 "0000000049454e44ae426082"));                         // IEND.
}

Json fixture_image() {
    return media("image", "image/png", fixture_png_base64());
}

Json fixture_audio() {
    return media(
        "audio",
        "audio/wav",
        to_base64(bytes_of(
            "524946462600000057415645"                          // RIFF, 38 bytes, WAVE.
            "666d74201000000001000100401f0000803e000002001000"  // PCM, mono, 8 kHz, 16 bit.
            "64617461020000000000")));                          // One silent sample.
}

Json fixture_embedded_text(std::string uri, std::string mime_type, std::string text) {
    return Json::object(
        {{"type", "resource"},
         {"resource",
          Json::object(
              {{"uri", std::move(uri)},
               {"mimeType", std::move(mime_type)},
               {"text", std::move(text)}})}});
}

Json fixture_full_schema() {
    return literal(R"({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"]
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })");
}

Json fixture_contact_form() {
    return literal(R"({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "Who is answering"},
            "email": {"type": "string", "description": "Where to write to"}
        },
        "required": ["username", "email"]
    })");
}

Json fixture_defaults_form() {
    return literal(R"({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active"
            },
            "verified": {"type": "boolean", "default": true}
        },
        "required": []
    })");
}

Json fixture_choices_form() {
    return literal(R"({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {
                "type": "string",
                "oneOf": [
                    {"const": "value1", "title": "First Option"},
                    {"const": "value2", "title": "Second Option"},
                    {"const": "value3", "title": "Third Option"}
                ]
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]}
            },
            "titledMulti": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"const": "value1", "title": "First Choice"},
                        {"const": "value2", "title": "Second Choice"},
                        {"const": "value3", "title": "Third Choice"}
                    ]
                }
            }
        },
        "required": []
    })");
}

}  // namespace interlock
