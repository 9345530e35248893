/// \file
/// The processor time that control groups (cgroups) leave this process: those of a container, a batch system
/// or systemd.
///
/// A group may have a quota, say 150 ms in each period of 100 ms, which is 1.5 cores. Once its threads have
/// used that up, none of them runs until the next period: it is throttled. Groups lie within one another, and
/// the tightest quota counts. Both versions of the kernel's interface are read: cpu.max and throttled_usec of
/// version 2, cpu.cfs_quota_us and throttled_time of version 1.

#pragma once

/// What control groups leave the process.
struct quota {
    double cores;       ///< of the tightest group; INFINITY without a quota, NAN where unknown
    double throttled_s; ///< since the groups exist, over all of them and all processors; NAN where unknown
    char reason[128];   ///< why both are unknown; "" where they are known
};

/// Reads the groups of the calling process.
/// \param root a folder that stands for /; "" for / itself.
void quota_read(struct quota *quota, const char *root);
