// Package delay says wait or go: how long a job should decline slots on machines that do not have its data (delay
// scheduling), and how long a clone should wait for an upstream output of its own before it shares one (delay
// assignment).
//
// # Delay scheduling
//
// A job starts at level 0, at which it may launch only where its data is: on the node, say. Declined offers make it
// wait; once it has waited at least T_1 it is at level 1 and may also launch in the rack, after T_2 more at level 2,
// and so on [FAIR §4.2]. A small job so waits a little for a machine that has its data, instead of reading across the
// network. [Locality.Offer] answers one offer; [Reset] selects when the wait starts again.
//
// Whether to wait at all: if offers from nodes with the data arrive one in t on average, and a task takes D longer
// without it, then waiting up to w gains
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// ([Gain]), which is positive exactly if D > t. D is 0 for work that does not wait for its input, and such jobs are best
// sent off at once, so that the others find room at the hot spots: IO-rate biasing ([Biased]).
//
// # Delay assignment
//
// With c clones of an upstream task and c of a downstream one, each downstream clone would like an upstream output to
// itself. It waits up to ω for one, and then shares [Dolly §4.4]. For an output of size r, a bandwidth B for one reader
// and αB for each of those that share, [Window] finds the ω that minimises the expected time of the read,
//
//	p_c(ω) T_C(ω) + (1 - p_c(ω)) T_E(ω)
//
// where p_c(ω) is the share of observed lags above ω, T_E the time with an output of one's own, and T_C that of sharing.
// [Windows] keeps the samples and the answers for several sizes of jobs; [Assign] tells a clone what to read now.
//
// # Symbols
//
//	T_1, T_2 ...  Config.Waits          time that a job stays at a level
//	w, t, D       Gain                  wait, mean time between local offers, cost of running elsewhere
//	ω             Window                how long a clone waits for an output of its own
//	r, B, α       Transfer              size, bandwidth, share of it that is left to a reader that shares
//	p_c           from Transfer.Lags    probability of no output of one's own within ω
//	T_E, T_C      in Window             time of a read with one's own output, and with a shared one
//
// # When it is wrong
//
// Delay scheduling assumes that slots free up often against the length of the waits: with long tasks and few slots it
// waits in vain ([LocalWithin]), though never longer than the sum of its waits before it may launch anywhere. The gain
// assumes that local offers come at random and independently. The window's model knows one bandwidth and two kinds of
// readers, and is as good as the lags that it was given.
//
// # Cost and concurrency
//
// An offer costs tens of nanoseconds and does not allocate. Functions, and a [Policy], are safe for concurrent use; a
// [Locality] is not, and belongs to one job; [Windows] is not, and belongs to one cluster. No clock is read: the host
// passes the time, and a clock that steps back adds nothing to a wait.
//
// Sources: Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UC Berkeley TR EECS-2009-55 (FAIR), §4;
// Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §4.
package delay
