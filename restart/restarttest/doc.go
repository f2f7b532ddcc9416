// Package restarttest runs journals of package restart/journal as unit tests, in a host's own test suite:
//
//	func TestJournals(t *testing.T) {
//		restarttest.Run(t, "testdata/*.txt")
//	}
//
// A journal holds what a tracker.Tracker was told, and below each event what it answered. Run replays it and compares
// the answers. So a journal that was recorded in production becomes a test by being copied to testdata; and one that
// is written by hand, with comments, is a worked example of a policy. [RunPolicy] puts another policy, such as the
// host's own, in the place of the one that the journals name; [RunActions] lets numbers and reasons differ as long as
// the same is done.
//
// # What would another policy do?
//
// Record a batch under [restart.Never], which changes nothing, and keep its journal. [Touched] says which tasks a
// policy would have touched, so that a test can say: all stragglers are found, and no healthy task is. A journal in
// which a policy has acted can't answer that for another one. What it killed has no end, what it copied ended early,
// and a policy that waits longer would seem to find nothing. So such a journal makes the test fail, with the line of
// the action and the policy that took it; and -restart.rewrite leaves it as it is.
//
// # Rewriting
//
// Importing the package defines a flag of the test binary. With it, the answers in the files are replaced by those that
// the tracker gives now:
//
//	go test ./mypackage -restart.rewrite
//
// Read the difference before you commit it: the files say what the tests want. Name the packages that import this one,
// since go test hands the flag to all that it runs, and the others do not know it.
//
// The package is for tests: it reads and writes files, and it is not part of what a host ships.
package restarttest
