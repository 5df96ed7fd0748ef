import { findBalancer } from '../../server/testing/balancer.ts'
import { findProgram } from '../../server/testing/debian-package.ts'
import { debiansPostgres } from '../operations/own-postgres.ts'

export type Programs = Awaited<ReturnType<typeof findPrograms>>

/** Root gets missing programs from Debian 12; otherwise an Error names the missing package. */
export async function findPrograms() {
  return {
    postgresFolder: await debiansPostgres(),
    etcd: await debianProgram('/usr/bin/etcd', 'etcd-server'),
    patroni: await debianProgram('/usr/bin/patroni', 'patroni'),
    haproxy: await findBalancer(),
  }
}

function debianProgram(path: string, debianPackage: string): Promise<string> {
  return findProgram([path], {
    debianPackage,
    advice: `No ${path}: the cluster test needs Debian 12's package ${debianPackage}. Install it, or run the test as root`,
  })
}
