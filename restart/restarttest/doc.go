// Package restarttest runs journals of package restart/journal as unit tests. A journal is a text that contains the
// events of a tracker.Tracker and, below each event, the tracker's answer. Use this package in your own tests to
// check that a policy, or a new version of this library, still gives the recorded answers:
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
// Record a batch with the policy [restart.Never], which changes nothing, and keep its journal. [Touched] returns the
// tasks that another policy would have copied, restarted or killed. So a test can check that the policy finds all
// stragglers and leaves healthy tasks alone.
//
// If a policy has acted in a journal, the journal shows nothing about another policy. For example, a killed attempt
// has no end, and a copied task ended early. So a policy that waits longer would seem to find nothing. Such a journal
// makes the test fail. The failure states the line of the action and the policy that acted. The flag -restart.rewrite
// does not change such a journal.
//
// # Rewriting
//
// The package defines a flag of the test binary. With the flag, the tracker's present answers replace the answers in
// the files:
//
//	go test ./mypackage -restart.rewrite
//
// Check the differences before you commit them, because the files contain the expected answers. On the command line,
// list only packages that import this package. The reason is that go test passes the flag to all listed packages, and
// a package that does not import restarttest does not know the flag.
//
// The package is for tests only: it reads and writes files.
package restarttest
