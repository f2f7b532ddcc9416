// Package cluster is a small Temporal cluster on one machine: a server in this process, and hosts that are processes of
// their own, so that one can be slowed, stopped or killed as a machine can.
package cluster
