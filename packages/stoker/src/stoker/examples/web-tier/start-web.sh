#!/bin/sh
# Serves the server's own name on port 80.
mkdir -p /srv/www
hostname > /srv/www/index.html
cd /srv/www && exec httpd -f -p 80
