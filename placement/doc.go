// Package placement is for a scheduler that starts a phase of reduce tasks. It chooses the rack in which each task
// should run. Use the package if the links between racks are slow. A reduce task reads from every map task, and
// the map tasks ran in all racks.
//
// To read bytes inside a rack is nearly free. Bytes from another rack leave that rack by its uplink and enter the
// rack of the task by its downlink. All tasks of a rack share the two links of the rack. So if a rack has many
// tasks, all its tasks read slowly. If a rack has much data and a slow uplink, the tasks in all other racks read
// slowly.
//
// # Example
//
// Three tasks each read 100 MB from each of three racks, and every link carries 50 MB/s:
//
//	a, err := placement.Assign(placement.Problem{Input: bytes, Up: up, Down: down}, placement.DefaultEffort)
//	fmt.Println(a.Rack, a)
//	// [0 1 2] tasks=3 seconds=4 bottleneck=rack-0-up bound=4 optimal=true
//
// Task 0 runs in rack 0, task 1 in rack 1 and task 2 in rack 2. The two tasks outside rack 0 read 200 MB from rack
// 0, so the uplink of rack 0 is busy for 4 seconds. No link is busy for longer. The bound means that no placement
// needs less than 4 seconds, so this placement is optimal.
//
// # The rule
//
// I[k][j] is the number of bytes of the input of task k that are in rack j. b_u[j] is the bandwidth of the uplink
// of rack j, and b_d[j] is the bandwidth of its downlink. For one placement of the tasks:
//
//	d_u[j] = sum over tasks k outside rack j of I[k][j]
//	d_v[j] = sum over tasks k inside rack j of (sum over racks i of I[k][i]) - I[k][j]
//	c      = max over racks j of max(d_u[j]/b_u[j], d_v[j]/b_d[j])
//
// Here d_u[j] is the number of bytes that leave rack j, and d_v[j] is the number of bytes that enter rack j. The
// longest transfer takes c seconds.
//
// [Assign] looks for the placement with the smallest c in which no rack has more tasks than slots.
//
// The formula of the paper differs in three points. The paper takes the maximum over 2n terms for n tasks, but
// there are two terms for each of the r racks. The paper has no slots. And the paper speaks of permutations, but
// it means all r^n placements.
//
// # How Assign finds the placement
//
// The problem is NP-hard, because scheduling on parallel machines is a special case. Assign works in four steps:
//
//  1. Assign solves the relaxation: a linear program in which a task may be split over several racks. In some hundred
//     rounds it looks for prices of the links and slots, and lets each task choose its cheapest rack. The prices prove
//     a lower bound for every placement.
//  2. Assign places the tasks that the relaxation did not split. Then Assign places the other tasks, largest first,
//     each in the rack where the three longest transfers become shortest.
//  3. A tabu search improves the placement. Each step of the search moves tasks so that the link with the longest
//     transfer carries less.
//  4. For a small problem the lower bound excludes most racks for most tasks. Branch and bound then searches the
//     remaining placements.
//
// A test compares the answers with a mixed-integer solver on 130 generated problems, with 20 to 200 tasks on 5 to 20
// racks. The solver had 60 seconds for each problem. With DefaultEffort, 129 answers are within 1 % of the lower bound
// that the solver proved, and the last is 1.9 % above it. The lower bound of an Assignment is at most 8 % below the
// solver's, and its answer .9 % above it in the mean. It is weakest if a few tasks are large, because the relaxation may split
// them. See testdata/README.md for the commands.
//
// # Other questions
//
//   - [Affinity]: which machines should a task prefer, so that the tasks are spread over the racks as planned?
//   - [BandwidthConfig]: should a phase use the bandwidths that were measured at its start, or equal bandwidths?
//   - [LinkRates]: how much can each link carry, according to the speed at which tasks read over the link?
//   - [Nearest]: for phases other than reduce, which free machine is nearest to the input of a task?
//
// # Limits
//
//   - Assign knows the traffic of one phase. If other traffic uses a link, pass a smaller bandwidth. If two phases
//     are placed at the same time, neither placement knows the other. The paper accepts this, because each phase
//     spreads its own traffic.
//   - Assign assumes that the links of racks are the slowest part. The placement hardly matters if the network has
//     full bisection bandwidth, or if reduce tasks compute for longer than they read.
//   - Assign compares the links of racks and ignores the links of machines.
//   - Assign needs the sizes of the map outputs in each rack. So the map tasks must have ended, or the sizes must
//     be predictable.
//
// # Cost and concurrency
//
// The caller tells Assign how much work it may do. With DefaultEffort, Assign takes about 25 ms of one core for 20
// tasks on 5 racks, 60 ms for 200 tasks on 20 racks, and 1 s for 1000 tasks on 40 racks. Assign cannot be
// interrupted. If you need an answer in a given time, pass the result of [Within]. The comments of the other
// functions state their cost. All values except LinkRates are safe for concurrent use.
//
// The simulated cluster in examples/internal/cluster/placement.go is a scheduler that you can copy from.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.2,
// §6.1 and §6.4.
package placement
