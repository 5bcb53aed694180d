package values

import (
	"strings"

	"github.com/lshark/lshark/opcodes"
)

// vocabulary has the words that are not names of a site.
type vocabulary struct {
	extensions  map[string]bool // of file names
	fileNames   map[string]bool // of files and directories that Lustre makes
	xattrs      map[string]bool // names of extended attributes
	xattrSpaces map[string]bool // their first parts
	logs        map[string]bool // whole names of devices and logs
	types       map[string]bool // of devices
	suffixes    map[string]bool // parts of the names of devices and logs, behind a hyphen
	params      map[string]bool // parts of names of parameters, in front of the last one
	settings    map[string]bool // values of parameters
	comments    map[string]bool // words of comments in configurations
	threads     map[string]bool // of clients: names of jobs, with a number behind them or without
}

func newVocabulary() vocabulary {
	v := vocabulary{
		extensions: setOf(`7z a asc avi avro awk bak bam bas bashrc bat bed bin bmp bz2 c cc cfg chk ckpt cl class
			cmake conf core cpp cram crt cs csh css csv cu cuh cxx dat data db dcd dll doc docx dot dump e eps err exe exo
			f f03 f08 f77 f90 f95 fa fasta fastq fits flac fq gff gif go gro gtf gz h h5 hdf hdf4 hdf5 hh hpp htm html hxx
			in ini inp ipynb iso itp jar java jpeg jpg js json ko lammps lib list lock log lz4 lzma m m4 map mat md mdp
			mesh mk mod mol2 mov mp3 mp4 mpeg mpg msh mtx n5 nc nc4 nii npy npz o obj old onnx orc orig out p par parquet
			patch pdb pdf pem php pid pkl pl pm png ppm ppt pptx prj ps psf pt pth py pyc pyx qcow2 r raw rb rda rds
			restart rpm rs rst safetensors sam sav sh shp sif slurm smi so sql sqlite sra stl swp t tab tar tcl tex
			tfrecord tga tgz tif tiff tmp toml top torrent tpr trr ts tsv txt v vcf vhd vmdk vtk vtp vtu wav webp whl xls
			xlsx xml xsd xtc xyz xz yaml yml z zarr zip zst`),
		fileNames:   setOf(`. .. .lustre lost+found ROOT PENDING REMOTE_PARENT_DIR CONFIGS`),
		xattrs:      setOf(`security.capability security.selinux security.ima security.evm security.SMACK64`),
		xattrSpaces: setOf(`user trusted security system lustre encryption`),
		logs: setOf(`MGS MGC general params nodemap default config_uuid changelog_catalog changelog_users hsm_actions
			update_log lfsck_layout lfsck_namespace *`),
		types: setOf(`lov lmv lod mdc mdt mdd mds osc osp ost osd ofd lwp mgc mgs qmt sec dev obdfilter llite ptlrpc ldlm llog
			echo_client`),
		suffixes: setOf(`lov lmv lod mdc mdt mdd mds osc osp ost osd ofd lwp qmt client clilov clilmv cliir mdtir mdtlov
			sptlrpc barrier MDT OST *`),
		params: setOf(`at_early_margin at_extra at_history at_max at_min debug failover fld ldlm ldlm_timeout llite llog
			lmv lod lov lwp lustre_config mdc mdd mds mdt mgc mgs namespaces network nodemap nrs obdfilter ofd osc osd-ldiskfs
			osd-wbcfs osd-zfs osp ost param pool ptlrpc qmt quota quota_slave sec seq services site sptlrpc srpc flavor
			default sys timeout version * tcp o2ib gni lnet peers exports jobid_name jobid_var OSS MDS ost_io ost_create ost_out ost_seq mdt_readpage mdt_setattr mdt_out mdt_seqm
			mdt_seqs mdt_fld mdt_io ldlm_cbd ldlm_canceld`),
		settings: setOf(`0 1 on off enable enabled disable disabled true false yes no none all any auto default u g p ug
			up gp ugp null plain gssnull krb5n krb5a krb5i krb5p skn ska ski skpi crc32 crc32c adler t10ip512 t10ip4K
			t10crc512 t10crc4K adler32 procname_uid nodelocal session cli2mdt cli2ost mdt2mdt mdt2ost rr qos fifo crrn orr
			trr tbf delay latency nid jobid opcode uid gid ro rw noatime flock localflock noflock user_xattr nouser_xattr
			lazystatfs nolazystatfs SLURM_JOB_ID SLURM_JOBID PBS_JOBID LSB_JOBID JOB_ID LOADL_STEP_ID ALPS_APP_ID`),
		comments: setOf(`add new del rem remove destroy setup lov lmv mount opts mdc mdt mds osc ost osp lwp mgc conn failnid
			failnids failover nid nids timeout ldlm_timeout general conf_param set_param param sys pool exclude marker
			upgraded`),
		threads: setOf(`ll_sa ll_agl`),
	}
	for _, t := range opcodes.Protocol.Texts {
		v.xattrs[t.Value] = true
	}
	return v
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// IsConstant reports whether a text stands for itself in all captures, so that it stays:
// the name of an extended attribute or a kind of device, for example.
func (p *Mapper) IsConstant(text string) bool {
	v, b := &p.vocabulary, []byte(text)
	for _, set := range []map[string]bool{v.extensions, v.fileNames, v.xattrs, v.xattrSpaces, v.logs, v.types, v.suffixes, v.params,
		v.settings, v.comments, v.threads} {
		if set[text] {
			return true
		}
	}
	return isTarget(b) || fidName().Match(b)
}
