# Image of the server. The first stage compiles the program and installs its packages; the second stage contains only the results.
#   docker build -t marketplace .
#   docker run --read-only -v marketplace-data:/data -v marketplace-backups:/backup -p 8080:8080 marketplace
# The base image is pinned by its tag, so a rebuild includes the security fixes of Debian and Node.js. For a reproducible image, set a
# digest: --build-arg NODE_IMAGE=node@sha256:... The base image must be Debian, because the HTTP engine needs glibc 2.38.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.package.json ./
COPY bench bench
COPY bin bin
COPY src src
COPY workers workers
RUN node bin/build-package.ts
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="svc-marketplace" \
      org.opencontainers.image.description="A marketplace service for financial offers" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
RUN mkdir bin && ln -s ../dist/bin/launch.js bin/marketplace
# The server writes only to /data, so the root file system can be read-only. /backup is the folder to mount a volume for backups. It is not
# declared as a volume, because a backup in an anonymous volume would be deleted with the container. A new volume gets the owner of its
# folder. The user is `node`, given by its number, because Kubernetes checks the number to verify that the user is not root.
RUN install -d -m 700 -o 1000 -g 1000 /data /backup
USER 1000:1000
VOLUME /data
# The operations port is reachable only inside the container, where the health check runs. For probes and metrics from outside, set
# SVC_OPS_HOST=0.0.0.0 and publish the port only to the operator's network.
ENV PATH=/app/bin:${PATH} \
    NODE_ENV=production \
    SVC_DATA_DIR=/data \
    SVC_HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SVC_OPS_PORT || 9090) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The server is the first process and needs no init process: it handles SIGTERM and SIGINT, and starts no child processes. With
# `docker run --init`, it works too.
STOPSIGNAL SIGTERM
ENTRYPOINT ["marketplace"]
CMD ["serve"]
