// Package oncluster has the tests of straggler-slurm that need a cluster.
package oncluster
