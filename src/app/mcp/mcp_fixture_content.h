// The fixed bytes and schemas that the conformance fixtures hand out.
#pragma once

#include "base/json.h"

namespace interlock {

Json fixture_image();  // Content item: a PNG of one red pixel.
Json fixture_audio();  // Content item: a WAV of one silent sample.
std::string fixture_png_base64();
Json fixture_embedded_text(std::string uri, std::string mime_type, std::string text);

// Keeps every keyword of JSON Schema 2020-12 that a server might be tempted to drop.
Json fixture_full_schema();
Json fixture_contact_form();   // elicitation: username and email.
Json fixture_defaults_form();  // elicitation: a default for every primitive type.
Json fixture_choices_form();   // elicitation: the five shapes of a choice.

}  // namespace interlock
