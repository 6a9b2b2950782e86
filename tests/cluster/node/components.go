// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// component is a program of the node.
type component struct {
	name string
	// packaged reports whether it comes from Debian and is not built here.
	packaged bool
	args     []string
	// port, or else socket, on which it listens on the node once it is ready.
	port   int
	socket string
}

// components returns the components in the order in which they start.
func components(spec Spec) []component {
	kubeconfig := "--kubeconfig=" + spec.Kubeconfig()
	return []component{
		{name: "etcd", port: 2379, args: []string{
			"--data-dir=" + spec.Path("etcd"), "--unsafe-no-fsync", "--log-level=warn",
			"--listen-client-urls=http://" + spec.NodeAddress() + ":2379", "--advertise-client-urls=http://" + spec.NodeAddress() + ":2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
		}},
		{name: "kube-apiserver", args: []string{
			"--etcd-servers=http://" + spec.NodeAddress() + ":2379",
			"--advertise-address=" + spec.NodeAddress(), fmt.Sprintf("--secure-port=%d", apiPort),
			"--tls-cert-file=" + spec.Path("apiserver.crt"), "--tls-private-key-file=" + spec.Path("apiserver.key"),
			"--cert-dir=" + spec.Path("tmp"),
			"--token-auth-file=" + spec.Path("tokens.csv"),
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + spec.Path("apiserver.key"), "--service-account-signing-key-file=" + spec.Path("apiserver.key"),
			"--service-cluster-ip-range=" + servicesCIDR,
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--allow-privileged=true",
			// The DNS of the machine does not know the name of the node.
			"--kubelet-preferred-address-types=InternalIP",
		}},
		// A kubelet does not wait for it.
		{name: "containerd", packaged: true, socket: ContainerdSocket, args: []string{"--config=" + spec.Path("containerd.toml")}},
		{name: "kube-controller-manager", args: []string{
			kubeconfig, "--use-service-account-credentials=false", "--leader-elect=false",
			"--service-account-private-key-file=" + spec.Path("apiserver.key"), "--root-ca-file=" + spec.Path("apiserver.crt"),
			"--cert-dir=" + spec.Path("tmp"),
		}},
		{name: "kube-scheduler", args: []string{kubeconfig, "--leader-elect=false", "--cert-dir=" + spec.Path("tmp")}},
		{name: kubelet, port: 10250, args: []string{
			kubeconfig, "--config=" + spec.Path("kubelet.yaml"), "--root-dir=/var/lib/kubelet", "--cert-dir=" + spec.Path("tmp"),
			"--hostname-override=" + NodeName, "--node-ip=" + spec.NodeAddress(),
		}},
		{name: "kube-proxy", args: []string{"--config=" + spec.Path("kube-proxy.yaml"), "--hostname-override=" + NodeName}},
		{name: "coredns", port: 53, args: []string{"-conf=" + spec.Path("Corefile")}},
	}
}

// process describes the process of the component.
func (c component) process(spec Spec) process.Spec {
	path := filepath.Join(spec.Bin, c.name)
	if c.packaged {
		path = filepath.Join(spec.Packages, "usr", "bin", c.name)
	}
	return process.Spec{
		Name: c.name, Path: path, Args: c.args, Env: spec.Environment(), Dir: spec.Dir,
		Log: spec.Path(c.name + ".log"), Grace: stopGrace,
	}
}

// files returns the configuration of the components, besides certificates, by file name.
func files(spec Spec) map[string]string {
	return map[string]string{
		"containerd.toml":      containerdConfig(spec),
		"cni/10-node.conflist": cniConfig(spec),
		"kubelet.yaml":         kubeletConfig(spec),
		"kube-proxy.yaml":      kubeProxyConfig(spec),
		"Corefile":             corefile(spec),
		"resolv.conf":          "nameserver " + spec.NodeAddress() + "\n",
	}
}

func containerdConfig(spec Spec) string {
	return fmt.Sprintf(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.opt"]
[grpc]
address = "%s"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "%s"
# Who may not lower the score of a process may not ask for it either.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "%s"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "%s"
conf_dir = "%s"
`, ContainerdSocket, PauseImage, spec.snapshotter(), filepath.Join(spec.Packages, "usr", "lib", "cni"), spec.Path("cni"))
}

// snapshotter falls back to copies without overlay, which is slow, and works anywhere.
func (s Spec) snapshotter() string {
	if s.Overlay {
		return "overlayfs"
	}
	return "native"
}

// cniConfig gives each pod its own link, so that all packets between pods are routed and
// pass kube-proxy's rules.
func cniConfig(spec Spec) string {
	return fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "node", "plugins": [
  {"type": "ptp", "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}}
]}
`, spec.PodsCIDR())
}

func kubeletConfig(spec Spec) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://%s
cgroupDriver: cgroupfs
cgroupRoot: %s
cgroupsPerQOS: true
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
maxOpenFiles: %d
podLogsDir: /var/log/pods
volumePluginDir: /var/lib/kubelet-plugins
clusterDNS: [%s]
clusterDomain: cluster.local
resolvConf: %s
makeIPTablesUtilChains: false
# How soon a pod is evicted that uses more disk than it may.
volumeStatsAggPeriod: 5s
# A full disk of the machine is not the matter of a test. An image that is removed could not be had again.
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", nodefs.inodesFree: "0%%", imagefs.available: "0%%", imagefs.inodesFree: "0%%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
`, ContainerdSocket, spec.Cgroup(), openFiles(), spec.NodeAddress(), spec.Path("resolv.conf"))
}

// openFiles is the limit of this process, which not every root can raise.
func openFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return min(limit.Max, 1000000)
}

func kubeProxyConfig(spec Spec) string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %s}
mode: nftables
clusterCIDR: %s
bindAddress: %s
oomScoreAdj: 0
# These are settings of the whole machine.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`, spec.Kubeconfig(), spec.PodsCIDR(), spec.NodeAddress())
}

func corefile(spec Spec) string {
	return fmt.Sprintf(`.:53 {
    bind %s
    errors
    kubernetes cluster.local {
        kubeconfig %s
        pods disabled
        ttl 5
    }
}
`, spec.NodeAddress(), spec.Kubeconfig())
}
