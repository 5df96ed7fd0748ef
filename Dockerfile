# The image expects DATABASE_URL: the embedded PostgreSQL in it is the one that verifies backups. bin/run-node runs the
# base's Node if it is new enough, and otherwise that of the packages.

# The base of every stage. Dependabot proposes the next version with its digest.
FROM node:26.10.0-trixie-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS base

FROM base AS web
WORKDIR /app
COPY package.json package-lock.json ./
# With optional packages: the bundler's native half is one of them.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build-web-if-needed.ts

FROM base AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

FROM base
# For the last one see bin/run-node.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 BACKUP_DIR=/app/backups MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY contract contract
COPY server server
COPY operator operator
COPY bin bin
# What bin/vslukh runs.
COPY scripts/admin.ts scripts/compile-cache.ts scripts/
COPY --from=web /app/dist/web dist/web
# The code belongs to root, and the server runs as somebody else: it cannot change itself.
# DATA_DIR, which has the list of deleted accounts and, without SMTP_URL, the mail; and BACKUP_DIR. Any other user of the image
# (`--user 12345`) is in the group 0, and may write there too.
RUN install -d -o node -g 0 -m 770 data backups
VOLUME ["/app/data", "/app/backups"]
USER node
EXPOSE 3000
# Whether the process lives. /readyz is 503 while the database is away, and what replaced the server then would not have the pages that
# this one has saved and serves on.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Not npm: bin/run-node becomes Node, so `docker stop` reaches the server, which drains within 10 s.
STOPSIGNAL SIGTERM
CMD ["bin/run-node", "--max-semi-space-size=8", "--max-old-space-size=512", "server/main.ts"]
