// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real Kubernetes API and the real controllers of Flux as processes on the loopback address.
// Tests, the demo and the benchmark use it, so it must not import testing, and it knows nothing of Stacks.
//
// It starts etcd and kube-apiserver itself instead of through controller-runtime's envtest, for three reasons: envtest's
// processes outlive a parent that is killed (a test that times out leaves them behind), its ports are noted in files in
// the user's cache directory, which the demo would leave behind, and its API server cannot be restarted on its own. From
// envtest it takes the installation of CRDs.
package controlplane

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	startTimeout = 3 * time.Minute
	stopGrace    = time.Minute
	adminUser    = "admin"
)

// Options says how a control plane is started.
type Options struct {
	// Dir is where everything is kept. Required; it must exist and be empty of another control plane.
	Dir string
	// BinDir has etcd and kube-apiserver. Empty means the bin/ of this repository.
	BinDir string
	// LogDir is where the logs go. Empty means Dir.
	LogDir string
	// CRDPaths are directories of CRD manifests to install, see ProjectCRDs.
	CRDPaths []string
	// AuditUser is whose requests are noted, for Requests. Empty means nobody's.
	AuditUser string
}

// ControlPlane is a running etcd and kube-apiserver: RBAC is on, no controller manager, no kubelet, no ServiceAccount
// admission. Its methods are not safe for concurrent use, except for Stop.
type ControlPlane struct {
	dir       string
	etcd      *process.Process
	apiserver *process.Process
	server    process.Spec // to start the API server again
	config    *rest.Config
}

// ProjectCRDs returns the directories with the CRDs of source-controller and of this project.
func ProjectCRDs() ([]string, error) {
	flux, err := process.FindBin(filepath.Join("crds", "source-controller"))
	if err != nil {
		return nil, err
	}
	root, err := process.RepoRoot()
	if err != nil {
		return nil, err
	}
	return []string{flux, filepath.Join(root, "config", "crd", "bases")}, nil
}

// Start returns when the API server is ready and the CRDs are served. The end of ctx stops everything, as Stop does.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	c := &ControlPlane{dir: options.Dir}
	if err := c.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), c.Stop())
	}
	context.AfterFunc(ctx, func() { _ = c.Stop() })
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, options Options) error {
	token := rand.Text()
	files, err := writeServerFiles(options.Dir, token, loopback)
	if err != nil {
		return err
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return err
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	c.config = &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", ports[1]),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: files.certificate},
		QPS:             -1, // a test must not wait for its own client
	}
	if err := WriteKubeconfig(c.KubeconfigPath(), c.config); err != nil {
		return err
	}
	if err := c.startEtcd(ctx, options, etcdURL); err != nil {
		return err
	}
	if c.server, err = apiServerSpec(options, files, etcdURL, ports[1]); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	return c.installCRDs(options.CRDPaths)
}

// startEtcd does not wait: the API server waits for etcd by itself, so both can start at once.
func (c *ControlPlane) startEtcd(ctx context.Context, options Options, url string) error {
	path, err := program(options.BinDir, "etcd")
	if err != nil {
		return err
	}
	// Stop ends etcd after the API server, so the end of ctx must not end it directly.
	c.etcd, err = process.Start(context.WithoutCancel(ctx), process.Spec{
		Name: "etcd",
		Path: path,
		Args: []string{
			"--data-dir=" + filepath.Join(options.Dir, "etcd"),
			"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
			"--listen-peer-urls=http://127.0.0.1:0",
			"--unsafe-no-fsync", // nothing here outlives the machine
			"--log-level=warn",
		},
		Env:   environment(options.Dir),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "etcd.log"),
		Grace: stopGrace,
	})
	return err
}

func apiServerSpec(options Options, files serverFiles, etcdURL string, port int) (process.Spec, error) {
	path, err := program(options.BinDir, "kube-apiserver")
	if err != nil {
		return process.Spec{}, err
	}
	audit, err := auditArgs(options.Dir, options.AuditUser)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: "kube-apiserver",
		Path: path,
		Args: append([]string{
			"--etcd-servers=" + etcdURL,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + files.certificatePath, "--tls-private-key-file=" + files.keyPath,
			"--cert-dir=" + options.Dir,
			"--token-auth-file=" + files.tokensPath,
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + files.keyPath, "--service-account-signing-key-file=" + files.keyPath,
			"--service-cluster-ip-range=10.0.0.0/24",
			// No controller manager makes the accounts that this plugin waits for.
			"--disable-admission-plugins=ServiceAccount",
			// Some clusters let nobody own what they may not keep from being deleted.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--allow-privileged=true",
			// The loopback address cannot be an endpoint of the kubernetes Service, and nobody needs one here.
			"--endpoint-reconciler-type=none",
		}, audit...),
		Env:   environment(options.Dir),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "kube-apiserver.log"),
		Grace: stopGrace,
	}, nil
}

// StartAPIServer starts the API server again after StopAPIServer or KillAPIServer, on the same port and with the same objects, and
// returns when it is ready and has a default namespace.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	server, err := process.Start(context.WithoutCancel(ctx), c.server)
	if err != nil {
		return err
	}
	c.apiserver = server
	transport, err := rest.TransportFor(c.config)
	if err != nil {
		return fmt.Errorf("making a client for the API server: %w", err)
	}
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	// The API server makes its first namespaces after it says that it is ready.
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if err := server.Await(ctx, startTimeout, process.HTTPProbe(client, c.config.Host+path)); err != nil {
			return err
		}
	}
	return nil
}

// KillAPIServer ends the API server only, as an outage of the control plane would, and waits for nobody.
func (c *ControlPlane) KillAPIServer() error { return c.apiserver.Kill() }

// StopAPIServer ends the API server only, as an upgrade of the control plane would.
func (c *ControlPlane) StopAPIServer() error {
	return c.apiserver.Stop()
}

// Stop ends both processes and returns when they are gone. What is in Options.Dir stays. It may be called twice.
func (c *ControlPlane) Stop() error {
	var errs []error
	// The API server first: without etcd it would not end in time.
	for _, p := range []*process.Process{c.apiserver, c.etcd} {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	return errors.Join(errs...)
}

// RESTConfig returns a new configuration for a client in the group system:masters, which may do everything. Set
// Impersonate in it to act as somebody with fewer rights.
func (c *ControlPlane) RESTConfig() *rest.Config { return rest.CopyConfig(c.config) }

// KubeconfigPath returns a file with the same rights as RESTConfig.
func (c *ControlPlane) KubeconfigPath() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *ControlPlane) installCRDs(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := envtest.InstallCRDs(c.RESTConfig(), envtest.CRDInstallOptions{
		Paths: paths, ErrorIfPathMissing: true, MaxTime: startTimeout, PollInterval: 20 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	return nil
}

// WriteKubeconfig writes the configuration of a client to a file.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "test"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken, Impersonate: config.Impersonate.UserName}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	kubeconfig.CurrentContext = name
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// program returns the path of a program in dir, or of this repository's if dir is empty.
func program(dir, name string) (string, error) {
	if dir == "" {
		return process.FindBin(name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding %s: %w", name, err)
	}
	return path, nil
}

// environment keeps what the programs write to their home and temporary directories inside dir. A start takes a quarter less
// processor time where the heap may grow to some times what is in use, and the tests start many.
func environment(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GOGC=400", "GOMEMLIMIT=512MiB"}
}
