// Package wordcount counts words by MapReduce in Temporal activities: maps read chunks of text and write the counts of
// each partition of the words to files, reduces read their partition of all maps and add it up. The reading is held to a
// rate, as that of a disk is, so that a host can be slow and many can share one machine.
package wordcount
