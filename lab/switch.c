// The network of the emulated cluster: a switch in user space between TAP devices in the hosts' network namespaces.
//
//   switch CONTROL_SOCKET LATENCY_NS NANOSECONDS_PER_BYTE GAP_NS NAMESPACE…
//
// A frame occupies its sender's port for gap + bytes / bandwidth, crosses the switch in the latency, and then
// occupies its receiver's port for the same time. Ports send and receive at once, and queues are at the outputs.
// Only frames with data have a gap. Acknowledgements have none, as if the card's own protocol sent them.
//
// Requests are datagrams on the control socket: "status", or "set LATENCY_NS NANOSECONDS_PER_BYTE GAP_NS".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS_PER_SECOND 1000000000ull
#define LARGEST_FRAME (sizeof(struct virtio_net_hdr) + 65536 + 64)
// Frames read from one port before the other ports' turn.
#define FRAMES_PER_TURN 8
#define EVENTS_PER_TURN 64
// Bytes that Ethernet adds to each packet: preamble, check sequence, pause.
#define ETHERNET_OVERHEAD (8 + 4 + 12)
#define ETHERNET_HEADER 14
#define PROTOCOL_TCP 6

typedef uint64_t nanoseconds;

struct network {
    nanoseconds latency;
    double per_byte;
    nanoseconds gap;
};

struct port {
    int device;
    nanoseconds sends_until;
    nanoseconds receives_until;
};

struct frame {
    nanoseconds due; // when it reaches its receiver's port; once arrived there, when it reaches the receiver
    nanoseconds occupied;
    int receiver;
    int arrived;
    size_t length;
    unsigned char bytes[]; // a virtio_net_hdr, then the Ethernet frame
};

struct statistics {
    uint64_t frames;
    uint64_t wire_bytes;
    uint64_t undelivered;
    uint64_t delivered;
    nanoseconds lateness;
    nanoseconds largest_lateness;
};

static struct network network;
static struct port *ports;
static int port_count;
static struct statistics statistics;

static void fail(const char *format, ...) {
    int error = errno;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(error));
    exit(1);
}

static nanoseconds now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * NANOSECONDS_PER_SECOND + time.tv_nsec;
}

static nanoseconds later(nanoseconds a, nanoseconds b) {
    return a > b ? a : b;
}

// Frames in flight: a heap with the earliest on top.

static struct frame **under_way;
static size_t under_way_count, under_way_capacity;

static void add_frame(struct frame *frame) {
    if (under_way_count == under_way_capacity) {
        under_way_capacity = under_way_capacity ? 2 * under_way_capacity : 4096;
        under_way = realloc(under_way, under_way_capacity * sizeof *under_way);
        if (!under_way) fail("no memory for %zu frames under way", under_way_capacity);
    }
    size_t hole = under_way_count++;
    while (hole > 0 && under_way[(hole - 1) / 2]->due > frame->due) {
        under_way[hole] = under_way[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    under_way[hole] = frame;
}

static struct frame *take_earliest_frame(void) {
    struct frame *earliest = under_way[0];
    struct frame *last = under_way[--under_way_count];
    size_t hole = 0;
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= under_way_count) break;
        if (child + 1 < under_way_count && under_way[child + 1]->due < under_way[child]->due) child++;
        if (under_way[child]->due >= last->due) break;
        under_way[hole] = under_way[child];
        hole = child;
    }
    under_way[hole] = last;
    return earliest;
}

// What a frame costs.

// The kernel passes up to 64 KiB as one frame; a real card would cut it into packets.
static size_t wire_bytes(const struct virtio_net_hdr *header, size_t frame_bytes) {
    size_t packets = 1;
    if (header->gso_type && header->gso_size && frame_bytes > header->hdr_len)
        packets = (frame_bytes - header->hdr_len + header->gso_size - 1) / header->gso_size;
    return frame_bytes + (packets - 1) * header->hdr_len + packets * ETHERNET_OVERHEAD;
}

static int carries_data(const unsigned char *frame, size_t frame_bytes) {
    const unsigned char *internet = frame + ETHERNET_HEADER;
    if (frame_bytes < ETHERNET_HEADER + 40 || frame[12] != 0x08 || frame[13] != 0x00 || internet[9] != PROTOCOL_TCP) return 0;
    size_t internet_header = (internet[0] & 15) * 4;
    if (frame_bytes < ETHERNET_HEADER + internet_header + 20) return 0;
    size_t tcp_header = (internet[internet_header + 12] >> 4) * 4;
    size_t total = internet[2] << 8 | internet[3];
    return total > internet_header + tcp_header;
}

static nanoseconds occupation(const unsigned char *bytes, size_t length) {
    const struct virtio_net_hdr *header = (const void *)bytes;
    const unsigned char *frame = bytes + sizeof *header;
    size_t frame_bytes = length - sizeof *header;
    size_t on_wire = wire_bytes(header, frame_bytes);
    statistics.frames++;
    statistics.wire_bytes += on_wire;
    return on_wire * network.per_byte + (network.gap && carries_data(frame, frame_bytes) ? network.gap : 0);
}

// The way of a frame.

// Hosts' addresses end with their numbers, from 1. Hosts know their neighbours, so nothing is broadcast.
static int receiver_of(const unsigned char *bytes, size_t length) {
    const unsigned char *address = bytes + sizeof(struct virtio_net_hdr);
    if (length < sizeof(struct virtio_net_hdr) + ETHERNET_HEADER || address[0] & 1) return -1;
    int receiver = address[5] - 1;
    return receiver >= 0 && receiver < port_count ? receiver : -1;
}

static void send_on(int sender, const unsigned char *bytes, size_t length) {
    int receiver = receiver_of(bytes, length);
    if (receiver < 0 || receiver == sender) return;
    nanoseconds occupied = occupation(bytes, length);
    nanoseconds sent = later(now(), ports[sender].sends_until);
    ports[sender].sends_until = sent + occupied;
    struct frame *frame = malloc(sizeof *frame + length);
    if (!frame) fail("no memory for a frame of %zu bytes", length);
    frame->due = sent + network.latency;
    frame->occupied = occupied;
    frame->receiver = receiver;
    frame->arrived = 0;
    frame->length = length;
    memcpy(frame->bytes, bytes, length);
    add_frame(frame);
}

static void read_frames(int sender) {
    static unsigned char bytes[LARGEST_FRAME];
    for (int turn = 0; turn < FRAMES_PER_TURN; turn++) {
        ssize_t length = read(ports[sender].device, bytes, sizeof bytes);
        if (length <= 0) break;
        send_on(sender, bytes, length);
    }
}

// A port takes frames in the order in which they cross the switch, not in the order of sending.
static void arrive(struct frame *frame) {
    struct port *port = &ports[frame->receiver];
    port->receives_until = later(frame->due, port->receives_until) + frame->occupied;
    frame->due = port->receives_until;
    frame->arrived = 1;
    add_frame(frame);
}

static void deliver(struct frame *frame, nanoseconds time) {
    nanoseconds lateness = time - frame->due;
    statistics.lateness += lateness;
    statistics.largest_lateness = later(statistics.largest_lateness, lateness);
    statistics.delivered++;
    if (write(ports[frame->receiver].device, frame->bytes, frame->length) < 0) statistics.undelivered++;
    free(frame);
}

static void advance_due_frames(void) {
    for (nanoseconds time = now(); under_way_count && under_way[0]->due <= time; time = now()) {
        struct frame *frame = take_earliest_frame();
        if (frame->arrived) deliver(frame, time);
        else arrive(frame);
    }
}

// Requests.

static int set_network(const char *text) {
    unsigned long long latency, gap;
    double per_byte;
    if (sscanf(text, "%llu %lf %llu", &latency, &per_byte, &gap) != 3) return 0;
    network = (struct network){latency, per_byte, gap};
    memset(&statistics, 0, sizeof statistics);
    return 1;
}

static void write_status(char *answer, size_t size) {
    double delivered = statistics.delivered ? statistics.delivered : 1;
    snprintf(answer, size,
        "hosts %d\nlatency_ns %llu\nper_byte_ns %.9g\ngap_ns %llu\nframes %llu\nwire_bytes %llu\nundelivered %llu\n"
        "mean_lateness_ns %.0f\nlargest_lateness_ns %llu\n",
        port_count, (unsigned long long)network.latency, network.per_byte, (unsigned long long)network.gap,
        (unsigned long long)statistics.frames, (unsigned long long)statistics.wire_bytes,
        (unsigned long long)statistics.undelivered, statistics.lateness / delivered,
        (unsigned long long)statistics.largest_lateness);
}

static void answer_request(int control) {
    char request[256], answer[512];
    struct sockaddr_un client;
    socklen_t client_size = sizeof client;
    ssize_t length = recvfrom(control, request, sizeof request - 1, MSG_DONTWAIT, (struct sockaddr *)&client, &client_size);
    if (length < 0) return;
    request[length] = 0;
    if (!strcmp(request, "status") || (!strncmp(request, "set ", 4) && set_network(request + 4)))
        write_status(answer, sizeof answer);
    else
        snprintf(answer, sizeof answer, "unknown request: %s\n", request);
    sendto(control, answer, strlen(answer), MSG_DONTWAIT, (struct sockaddr *)&client, client_size);
}

static int open_control(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        fail("%s", path);
    }
    strcpy(address.sun_path, path);
    int control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0 || bind(control, (struct sockaddr *)&address, sizeof address)) fail("control socket %s", path);
    return control;
}

// Starting.

static int open_device(const char *namespace) {
    int handle = open(namespace, O_RDONLY | O_CLOEXEC);
    if (handle < 0 || setns(handle, CLONE_NEWNET)) fail("network namespace %s", namespace);
    close(handle);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail("/dev/net/tun");
    struct ifreq request = {.ifr_name = "eth0", .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    if (ioctl(device, TUNSETIFF, &request)) fail("TAP device in %s", namespace);
    if (ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)) fail("segmentation offload in %s", namespace);
    return device;
}

static void watch(int epoll, int descriptor, int name) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = name};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) fail("epoll");
}

static void open_ports(int epoll, char **namespaces) {
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    for (int port = 0; port < port_count; port++) {
        ports[port].device = open_device(namespaces[port]);
        watch(epoll, ports[port].device, port);
    }
    if (own < 0 || setns(own, CLONE_NEWNET)) fail("own network namespace");
    close(own);
}

// Frames must leave in time, however busy the ranks keep the processors.
static void take_precedence(void) {
    struct sched_param priority = {.sched_priority = 50};
    if (sched_setscheduler(0, SCHED_FIFO, &priority)) perror("no real-time priority, so latencies will vary");
    prctl(PR_SET_TIMERSLACK, 1);
    mlockall(MCL_CURRENT);
}

static int wait_for_events(int epoll, struct epoll_event *events) {
    struct timespec wait, *until_due = NULL;
    if (under_way_count) {
        nanoseconds time = now(), due = under_way[0]->due, left = due > time ? due - time : 0;
        wait = (struct timespec){left / NANOSECONDS_PER_SECOND, left % NANOSECONDS_PER_SECOND};
        until_due = &wait;
    }
    int count = epoll_pwait2(epoll, events, EVENTS_PER_TURN, until_due, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2 (Linux 5.11 has it)");
    return count;
}

int main(int count, char **arguments) {
    char settings[256];
    if (count < 6) {
        fprintf(stderr, "usage: switch CONTROL_SOCKET LATENCY_NS NANOSECONDS_PER_BYTE GAP_NS NAMESPACE…\n");
        return 2;
    }
    snprintf(settings, sizeof settings, "%s %s %s", arguments[2], arguments[3], arguments[4]);
    if (!set_network(settings)) {
        fprintf(stderr, "not three numbers: %s\n", settings);
        return 2;
    }
    port_count = count - 5;
    ports = calloc(port_count, sizeof *ports);
    if (!ports) fail("no memory for %d ports", port_count);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    open_ports(epoll, arguments + 5);
    take_precedence();
    int control = open_control(arguments[1]);
    watch(epoll, control, port_count);
    struct epoll_event events[EVENTS_PER_TURN];
    for (;;) {
        advance_due_frames();
        int ready = wait_for_events(epoll, events);
        for (int event = 0; event < ready; event++) {
            if (events[event].data.u32 == (uint32_t)port_count) answer_request(control);
            else read_frames(events[event].data.u32);
        }
    }
}
