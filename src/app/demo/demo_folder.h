// The data folder of the demo: one of its own, made anew for each run, so that no state of an
// earlier one (a kill switch, disabled trading, a full account) can break a scene.
//
// A folder is the demo's own when it carries the mark that the demo put there while it was new or
// empty, and the mark names it. Only such a folder is ever emptied; any other is refused whole.
#pragma once

#include <string>

#include "base/result.h"

namespace interlock {

// $XDG_DATA_HOME/interlock-demo, else ~/.local/share/interlock-demo.
std::string default_demo_folder();

enum class DemoBefore {
    empty,  // What the last run left is removed.
    keep,   // The demo goes on with it.
};
// Makes, empties or only looks at the folder. Refuses one that holds anything but a demo's data,
// and one in which a server runs.
Result<void> prepare_demo_folder(const std::string& path, DemoBefore before);

}  // namespace interlock
