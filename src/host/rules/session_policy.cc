#include "host/rules/session_policy.h"

#include <algorithm>

namespace interlock {

Human open_session(Human human, HumanSession session) {
    std::erase_if(human.sessions, [&](const HumanSession& old) {
        return old.expires_at <= session.created_at;
    });
    while (human.sessions.size() >= kSessionsMax) {
        human.sessions.erase(human.sessions.begin());
    }
    human.sessions.push_back(std::move(session));
    return human;
}

const HumanSession* find_session(const Human& human, const SessionId& session_id, Timestamp at) {
    for (const HumanSession& session : human.sessions) {
        if (session.session_id == session_id && at < session.expires_at) {
            return &session;
        }
    }
    return nullptr;
}

Human end_session(Human human, const SessionId& session_id) {
    std::erase_if(human.sessions, [&](const HumanSession& session) {
        return session.session_id == session_id;
    });
    return human;
}

Human end_other_sessions(Human human, const SessionId& kept) {
    std::erase_if(
        human.sessions, [&](const HumanSession& session) { return session.session_id != kept; });
    return human;
}

Human note_proof(Human human, const SessionId& session_id, Timestamp at) {
    for (HumanSession& session : human.sessions) {
        if (session.session_id == session_id) {
            session.authenticated_at = at;
            session.failed_proofs = 0;
        }
    }
    return human;
}

Human note_failed_proof(Human human, const SessionId& session_id) {
    for (HumanSession& session : human.sessions) {
        if (session.session_id == session_id) {
            ++session.failed_proofs;
        }
    }
    std::erase_if(human.sessions, [](const HumanSession& session) {
        return session.failed_proofs >= kFailedProofsMax;
    });
    return human;
}

}  // namespace interlock
