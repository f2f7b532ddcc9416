// Package cluster runs a small Temporal cluster on one machine. The server runs in this process. Each host is a
// further process, which can be slow, stopped or killed like a machine.
package cluster
