import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf, ROOT, run } from '../operations/deploy-file.ts'

/** What the Dockerfile states about the image, in Docker's words. */
type ImageConfig = {
  Env: string[]
  Cmd: string[]
  User: string
  WorkingDir: string
  StopSignal: NodeJS.Signals
  Volumes: Record<string, object>
  Healthcheck: { Test: string[] }
}

/** `root` is the folder of its files. */
export type Image = { root: string; config: ImageConfig }

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const BASE = 'localhost/base'

/**
 * Builds images with buildah, in a folder of their own. It is removed by `close`, unless IMAGES
 * names it: then the base and the layers stay for the next run.
 */
export async function openImages() {
  const folder = process.env.IMAGES ?? (await mkdtemp(join(tmpdir(), 'vslukh-images-')))
  const [storage, home] = [join(folder, 'storage'), join(folder, 'home')]
  const program = await programOf('buildah', '/usr/bin/buildah')
  const own = ['--root', storage, '--runroot', join(folder, 'run')]
  const buildah = async (...args: string[]) => {
    const { stdout } = await run(program, [...own, ...args], { maxBuffer: 64 * 1024 * 1024 })
    return stdout.trim()
  }

  const isBaseKept = await buildah('images', '--quiet', BASE).catch(() => '')
  if (!isBaseKept) await makeBase(buildah)
  // The home of npm is mounted: its cache and its certificates are no part of the image.
  await mkdir(home, { recursive: true })
  const { NODE_EXTRA_CA_CERTS } = process.env
  if (NODE_EXTRA_CA_CERTS) {
    await copyFile(NODE_EXTRA_CA_CERTS, join(home, 'certificates'))
    await writeFile(join(home, '.npmrc'), 'cafile=/root/certificates\n')
  }

  const open = async (tag: string): Promise<Image> => {
    const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', tag))
    const container = await buildah('from', '--pull-never', tag)
    return { root: await buildah('mount', container), config: Docker.config }
  }

  return {
    /** Builds the image of a folder with the product's sources. */
    async build(context: string, tag: string): Promise<Image> {
      const options = ['--isolation', 'chroot', '--format', 'docker', '--layers']
      const base = ['--from', BASE, '--volume', `${home}:/root`]
      await buildah('build', ...options, ...base, '--tag', tag, context)
      return open(tag)
    },

    /** Returns the image with one more file. */
    async addFile(from: string, tag: string, file: string, path: string): Promise<Image> {
      const container = await buildah('from', '--pull-never', from)
      await buildah('add', '--chown', '0:0', container, file, path)
      await buildah('commit', '--format', 'docker', '--rm', container, tag)
      return open(tag)
    },

    async close(): Promise<void> {
      await buildah('umount', '--all')
      await buildah('rm', '--all')
      // Buildah mounts this folder over itself.
      await run('umount', [join(storage, 'overlay')]).catch(() => {})
      if (!process.env.IMAGES) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes what the Dockerfile names as its base, of the same Debian and with the same Node. */
async function makeBase(buildah: (...args: string[]) => Promise<string>): Promise<void> {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
  const [, version = '', debian = ''] = /^FROM node:([\d.]+)-(\w+)-slim/m.exec(dockerfile) ?? []
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  const debootstrap = await programOf('debootstrap', '/usr/sbin/debootstrap')
  const packages = ['--variant=minbase', '--include=libatomic1']
  await run(debootstrap, [...packages, debian, root], { maxBuffer: 64 * 1024 * 1024 })
  const node = [`node-linux-${process.arch}@${version}`, 'npm@11']
  await run('npm', ['install', '--global', '--prefix', join(root, 'usr/local'), ...node])
  const user = ['--uid', '1000', '--user-group', '--create-home', 'node']
  await run('chroot', [root, 'useradd', ...user])
  await buildah('config', '--env', `PATH=${SYSTEM_PATH}`, container)
  await buildah('commit', '--rm', container, BASE)
}
