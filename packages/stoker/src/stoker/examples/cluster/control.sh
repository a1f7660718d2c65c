#!/bin/sh
# Install the control plane of k3s; __…__ are replaced by the template.
curl -sfL https://get.k3s.io | K3S_TOKEN=__TOKEN__ sh -s - server --tls-san __PUBLIC_ADDRESS__
