// Package placement is for a scheduler that starts a phase of reduce tasks: it says in which rack each task should
// run. Use the package when the links between racks are slow. A reduce task reads from every map task, and the map
// tasks run in all racks.
//
// Bytes that a task reads inside its own rack are nearly free. Bytes from another rack leave that rack by its uplink
// and enter the task's rack by its downlink. All tasks of a rack share the rack's two links. So a rack with many tasks
// is slow for all its tasks. A rack with much data and a slow uplink is slow for the tasks in the other racks.
//
// # Example
//
// Three tasks each read 100 MB from each of three racks, and every link carries 50 MB/s:
//
//	a, err := placement.Assign(placement.Problem{Input: bytes, Up: up, Down: down}, placement.DefaultEffort)
//	fmt.Println(a.Rack, a)
//	// [0 1 2] tasks=3 seconds=4 bottleneck=rack-0-up bound=4 optimal=true
//
// Task 0 runs in rack 0, task 1 in rack 1 and task 2 in rack 2. The two tasks outside of rack 0 read 200 MB from that
// rack, so its uplink is busy for 4 seconds. No link is busy for longer. The bound says that no placement needs less
// than 4 seconds, so this placement is optimal.
//
// # The rule
//
// I[k][j] is the number of bytes of task k's input in rack j. The bandwidth of rack j's uplink is b_u[j], the bandwidth
// of its downlink is b_d[j]. For one placement of the tasks:
//
//	d_u[j] = sum over tasks k outside rack j of I[k][j]
//	d_v[j] = sum over tasks k inside rack j of (sum over racks i of I[k][i]) - I[k][j]
//	c      = max over racks j of max(d_u[j]/b_u[j], d_v[j]/b_d[j])
//
// Here d_u[j] is the number of bytes that leave rack j, and d_v[j] is the number of bytes that enter rack j. The longest
// transfer takes c seconds.
//
// [Assign] looks for the placement with the smallest c that respects the racks' slots.
//
// The paper's formula differs in three points. The paper takes the maximum over 2n terms for n tasks; the right
// number is two terms for each of the r racks. The paper has no slots. And the paper speaks of permutations, where
// all r^n placements are meant.
//
// # How Assign finds the placement
//
// The problem is NP-hard: scheduling on parallel machines is a special case. Assign works in four steps:
//
//  1. Assign solves the relaxation, in which a task may be split over racks. The method is an interior-point method
//     on a system of 3r unknowns. The relaxation's prices prove a lower bound.
//  2. Assign places the tasks that the relaxation did not split. Then Assign places the other tasks, largest first,
//     each where the three longest transfers become shortest.
//  3. A tabu search improves the placement. Each step of the search relieves the bottleneck link.
//  4. For small problems the bound rules out most racks for most tasks. Branch and bound then searches the remaining
//     placements.
//
// A test compares the answers with a mixed-integer solver on 130 generated problems, of 20 to 200 tasks on 5 to 20 racks.
// The solver had 60 seconds for each problem. With the default effort, 129 answers are within 1 % of the solver's proven
// bound, and the last answer is 1.9 % above its bound. See testdata/README.md for the commands. The bound in an answer is
// often looser than the solver's bound if a few tasks are large, because the relaxation may split these tasks.
//
// # Other questions
//
//   - [Affinity]: which machines should a task prefer, so that the phase spreads over the racks as wanted?
//   - [BandwidthConfig]: which bandwidths should a phase count on, the bandwidths measured at its start or equal ones?
//   - [LinkRates]: how much can each link carry, judged by the speed at which tasks read over the link?
//   - [Nearest]: for phases other than reduce, which free machine is nearest to the task's input?
//
// # Limits
//
//   - Assign sees one phase. Other traffic counts only as smaller bandwidths. Two phases that are placed at the same
//     moment do not see each other. The paper accepts this, because each phase spreads its own traffic.
//   - Assign takes the links as the bottleneck. The placement hardly matters with full bisection bandwidth, or if
//     reduce tasks compute for longer than they read.
//   - Assign counts the links of racks and not the links of machines.
//   - Assign needs the sizes of the map outputs in each rack. So the map tasks must have ended, or their sizes must be
//     predictable.
//
// # Cost and concurrency
//
// The caller tells Assign how much work to do. The default takes about 25 ms of one core for 20 tasks on 5 racks, 60 ms
// for 200 tasks on 20 racks, and 1 s for 1000 tasks on 40 racks. Nothing can interrupt Assign. A host that must answer
// in time passes an effort from [Within]. The comments of the other functions state their cost. All values except
// LinkRates are safe for concurrent use.
//
// A host to copy from is the simulated cluster: examples/internal/cluster/placement.go calls this package.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.2, §6.1
// and §6.4.
package placement
