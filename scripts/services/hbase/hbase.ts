// One standalone HBase: master, region server and the ZooKeeper that they need in one Java process.

import { join } from 'node:path';
import { copyMavenJars, install, javaRemedy, type Say } from '../installation.ts';
import type { Server } from '../server.ts';
import { findHBaseFault, type HBasePorts } from './probe.ts';

export interface HBasePlace extends HBasePorts {
  readonly folder: string;
  /** Of HBase's own ZooKeeper; clients of ours never need it. */
  readonly zookeeperPort: number;
}

/** As in pom.xml. */
export const hbaseVersion = '2.6.4-hadoop3';
export const hbaseInstallation = `hbase-${hbaseVersion}`;

/** A start takes 10 to 20 s; one that has not come through by then hangs, and a new one does better. */
const readyWithinMs = 60_000;
const here = import.meta.dirname;

/** Installs the jars where they are missing (120 MB) and returns their folder. */
export async function installHBase(root: string, say: Say): Promise<string> {
  const pom = join(here, 'pom.xml');
  return await install(root, { name: hbaseInstallation, fill: (folder) => copyMavenJars(pom, folder) }, say);
}

export function hbaseServer(jars: string, place: HBasePlace): Server {
  const { folder, masterPort, regionServerPort, zookeeperPort } = place;
  const properties = {
    'weir.data': join(folder, 'data'),
    'weir.listen': '127.0.0.1',
    'weir.masterPort': masterPort,
    'weir.regionServerPort': regionServerPort,
    'weir.zookeeperPort': zookeeperPort,
  };
  return {
    label: 'HBase',
    address: `127.0.0.1:${regionServerPort}`,
    folder,
    ports: [masterPort, regionServerPort, zookeeperPort],
    readyWithinMs,
    prepare: () => ({
      program: 'java',
      remedy: javaRemedy,
      arguments: [
        `@${join(here, 'jvm.options')}`,
        ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
        '-classpath',
        `${join(here, 'conf')}:${jars}/*`,
        'org.apache.hadoop.hbase.master.HMaster',
        'start',
      ],
    }),
    findFault: () => findHBaseFault(place),
  };
}
