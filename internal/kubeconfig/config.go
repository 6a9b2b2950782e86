// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName names the single cluster, user and context of a kubeconfig.
const contextName = "stack"

// kubeconfig returns a kubeconfig for the cluster of the config that reads its token from
// a file. It takes the API server's address and CA from the config, but no credentials.
// The CA is read each time, as it may have been replaced, and embedded, as the program
// may not read its file.
func kubeconfig(config *rest.Config, namespace, tokenPath string) ([]byte, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("finding the address of the API server: %w", err)
	}
	known := rest.AnonymousClientConfig(config)
	if err := rest.LoadTLSFiles(known); err != nil {
		return nil, fmt.Errorf("reading the CA certificate of the API server: %w", err)
	}
	out := clientcmdapi.NewConfig()
	out.Clusters[contextName] = &clientcmdapi.Cluster{
		Server:                   server.String(),
		CertificateAuthorityData: known.CAData,
		InsecureSkipTLSVerify:    known.Insecure,
		TLSServerName:            known.ServerName,
	}
	out.AuthInfos[contextName] = &clientcmdapi.AuthInfo{TokenFile: tokenPath}
	out.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName, Namespace: namespace}
	out.CurrentContext = contextName
	text, err := clientcmd.Write(*out)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the run: %w", err)
	}
	return text, nil
}
