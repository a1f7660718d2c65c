#!/bin/sh
# Install a worker of k3s; __…__ are replaced by the template.
until curl -sk -o /dev/null https://__CONTROL__:6443/ping; do
  sleep 5
done
curl -sfL https://get.k3s.io | K3S_URL=https://__CONTROL__:6443 K3S_TOKEN=__TOKEN__ sh -s - agent
