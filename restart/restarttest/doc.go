// Package restarttest runs journals of package restart/journal as unit tests. Use it in your own test suite to
// check that a policy, or a new version of this library, still answers as recorded:
//
//	func TestJournals(t *testing.T) {
//		restarttest.Run(t, "testdata/*.txt")
//	}
//
// A journal holds the events of a tracker.Tracker and, below each event, the tracker's answer. Run replays the
// journal and compares the answers. So a journal from production becomes a test when you copy it to testdata. A
// journal that you write by hand, with comments, is a worked example of a policy. [Policy] replaces the policy
// that the journals name, for example by your own. [OnlyActions] accepts other numbers and reasons as long as the
// actions are equal.
//
// # Asking about another policy
//
// Record a batch under [restart.Never], which changes nothing, and keep its journal. [Touched] returns the
// tasks that a policy would have copied, restarted or killed. So a test can say: the policy finds all
// stragglers and touches no healthy task.
//
// A journal in which one policy has acted can't answer for another policy. A killed attempt has no end, and a
// copied task ended early, so a policy that waits longer would seem to find nothing. A journal in which another
// policy has acted makes the test fail. The failure names the line of the action and the policy that acted. The
// flag -restart.rewrite does not change such a journal.
//
// # Rewriting
//
// The package defines a flag of the test binary. With the flag, the tracker's present answers replace the
// answers in the files:
//
//	go test ./mypackage -restart.rewrite
//
// Read the difference before you commit it, because the files hold the expected answers. Name the packages that
// import this package: go test passes the flag to all packages that it runs, and other packages do not know the
// flag.
//
// The package is for tests only: it reads and writes files.
package restarttest
