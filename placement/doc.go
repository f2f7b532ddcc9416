// Package placement says in which rack each reduce task should run, so that no rack's link to the rest of the cluster
// becomes the place where the phase waits.
//
// A reduce task reads from every map task, wherever it runs. What it reads inside its rack is nearly free; what it
// reads from other racks leaves them by their uplinks and enters by its own rack's downlink, which all tasks of the
// rack share. A rack with many tasks is slow for all of them, and so is a rack whose data everybody wants over a slow
// uplink.
//
// # The rule
//
// With I[k][j] bytes of task k's input in rack j, bandwidths b_u[j] and b_d[j] out of and into rack j, and the tasks
// spread over the racks in some way,
//
//	d_u[j] = sum over tasks k not in j of I[k][j]                  moved out
//	d_v[j] = sum over tasks k in j of (sum over i of I[k][i]) - I[k][j]   read in
//	c      = max over j of max(d_u[j]/b_u[j], d_v[j]/b_d[j])       seconds of the longest transfer
//
// and [Assign] finds the placement of least c that respects the racks' slots. (The paper writes the maximum as one over
// 2n terms; there are two for each of the r racks. It has no slots, and says permutations where it means all of r^n.)
//
// # How it is found
//
// The problem is NP-hard: scheduling on parallel machines is a special case. Assign solves the relaxation in which
// tasks may be split, by an interior-point method that works on a system of 3r unknowns; places the tasks that were not
// split, then the others, largest first, where the three longest transfers come out least; and improves that by a tabu
// search whose steps relieve the bottleneck. The relaxation's prices prove a lower bound. For small problems the bound
// also rules out most racks for most tasks, and branch and bound does the rest.
//
// Against a mixed-integer solver with 60 seconds a problem, on 130 made problems of 20 to 200 tasks on 5 to 20 racks,
// answers with the default effort are within 1 % of the solver's proven bound on all but one, which is 1.9 % off; see
// testdata/README.md. The bound that comes with an answer is often looser than that for a few large tasks, since it
// lets them be split.
//
// # The other questions
//
//   - [Affinity]: which machines should a task prefer, so that the phase spreads as wanted?
//   - [BandwidthConfig]: measured at the start or equal for all, which bandwidths should a phase count on?
//   - [LinkRates]: what can each link carry, by what tasks achieved that read over it?
//   - [Nearest]: for phases other than reduce, which place is nearest to the data?
//
// # When it is wrong
//
// It sees one phase. Other traffic enters only as less bandwidth, and two phases placed at the same moment do not see
// each other: the paper accepts that, since each keeps out of its own way. It takes links as the bottleneck: with full
// bisection bandwidth, or reducers that compute longer than they read, the placement hardly matters. It counts only
// links of racks, not of machines. And it needs the sizes of the map outputs by rack, so the maps must have ended or
// their sizes be foreseeable.
//
// # Cost and concurrency
//
// Assign is told how much work to do; by default some 25 ms of one core for 20 tasks on 5 racks, 60 ms for 200 on 20
// and one second for 1000 on 40. It cannot be interrupted, so a host that must answer in time passes [Within] of it.
// The other calls say what they cost. All values except LinkRates are safe for concurrent use.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/placement.go.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.2, §6.1
// and §6.4.
package placement
