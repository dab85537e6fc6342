// Binds Unix sockets without a moment in which others could open them.
#include "net/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) {
            ::close(value_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }
    int release() { return std::exchange(value_, -1); }

private:
    int value_;
};

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path)) {
        return fail(
            errors::invalid_config,
            "The socket path " + path + " has " + std::to_string(path.size()) + " bytes; 1 to " +
                std::to_string(sizeof(address.sun_path) - 1) + " are possible.",
            "Use a shorter path for the operator socket.");
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

int open_socket() {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) {
            return {};
        }
        return fail(errors::io_failed, "Cannot look at " + path + ": " + reason_of(errno) + ".");
    }
    if (!S_ISSOCK(found.st_mode)) {
        return fail(
            errors::invalid_config,
            path + " exists and is not a socket; it was left alone.",
            "Remove it, or choose another path for the operator socket.");
    }
    const Descriptor probe(open_socket());
    if (probe.get() < 0) {
        return fail(errors::io_failed, "Cannot open a socket: " + reason_of(errno) + ".");
    }
    const int connected =
        ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    if (connected == 0 || errno != ECONNREFUSED) {
        return fail(
            errors::invalid_config,
            "Another server accepts on " + path + ".",
            "Stop that server, or choose another path for the operator socket.");
    }
    if (::unlink(path.c_str()) != 0) {
        return fail(errors::io_failed, "Cannot remove " + path + ": " + reason_of(errno) + ".");
    }
    return {};
}

}  // namespace

Result<UnixListener> UnixListener::open(const std::string& path) {
    TRY_ASSIGN(const sockaddr_un address, address_of(path));
    TRY(remove_stale(path, address));
    Descriptor listener(open_socket());
    if (listener.get() < 0) {
        return fail(errors::io_failed, "Cannot open a socket: " + reason_of(errno) + ".");
    }
    // A chmod after bind would come too late: somebody could connect in between.
    const mode_t mask = ::umask(0177);
    const int bound =
        ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    const int bind_error = errno;
    ::umask(mask);
    if (bound != 0) {
        return fail(errors::io_failed, "Cannot bind " + path + ": " + reason_of(bind_error) + ".");
    }
    struct stat made{};
    if (::listen(listener.get(), SOMAXCONN) != 0 || ::lstat(path.c_str(), &made) != 0) {
        return fail(errors::io_failed, "Cannot listen on " + path + ": " + reason_of(errno) + ".");
    }
    return UnixListener(path, listener.release(), made.st_dev, made.st_ino);
}

UnixListener::UnixListener(std::string path, int descriptor, dev_t device, ino_t inode)
    : path_(std::move(path)), descriptor_(descriptor), device_(device), inode_(inode) {}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      device_(other.device_),
      inode_(other.inode_) {}

UnixListener::~UnixListener() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    struct stat found{};
    if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
        found.st_ino == inode_) {
        ::unlink(path_.c_str());
    }
}

int UnixListener::release_descriptor() {
    return std::exchange(descriptor_, -1);
}

}  // namespace interlock
