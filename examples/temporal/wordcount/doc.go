// Package wordcount counts words by MapReduce in Temporal activities. A map reads a chunk of text, counts its words,
// and writes the counts of each partition to a file. A reduce reads its partition of all maps and adds the counts.
// The activities read at a limited rate, like the rate of a disk. So a host can be slow, and many hosts can share one
// machine.
package wordcount
