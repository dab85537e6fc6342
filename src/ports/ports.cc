// Includes each port once, so that each compiles alone.
#include "ports/clock.h"
#include "ports/effect_sink.h"
#include "ports/head_mirror.h"
#include "ports/id_source.h"
#include "ports/key_check.h"
#include "ports/kill_flag.h"
#include "ports/ledger_store.h"
#include "ports/master_keys.h"
