/* A made-up header: MDS_GETATTR has another number, and MDS_TOY is new. */
#ifndef _TOY_H
#define _TOY_H

#define TOY_SHIFT	4	/* first of
				 * two lines */
#define TOY_SIZE	(3 * (1UL << TOY_SHIFT) | \
			 0x1)
#define TOY_NAME	"toy"
#define TOY_MASK	((__s16)~TOY_SHIFT)
#define toy_field	u.toy_field
#define TOY_BYTES(n)	((n) << TOY_SHIFT)
#define LMV_MAX_STRIPE_COUNT	2000
#define LMV_CRUSH_PG_COUNT	4096

#if defined(__cplusplus)
extern "C" {
#endif

enum mds_cmd {
	MDS_GETATTR	= TOY_SIZE,	// 0x31
	MDS_GETATTR_NAME = 0x22,
	MDS_TOY,
	MDS_TOY_LETTER	= 'a',
};

struct obd_connect_data {
	__u64 ocd_connect_flags;
	__u32 ocd_toys[TOY_SIZE], *ocd_more;
	struct {
		enum mds_cmd ocd_toy_inside : 8;
	} ocd_inside;
};

struct toy_body {
	struct lu_fid	tb_fid;
	DECLARE_FLEX_ARRAY(__u32, tb_list);
} __attribute__((packed));

static inline int toy_open(struct toy_body *body)
{
	enum mds_cmd in_a_function = { 7 };

	return in_a_function;
}

#if defined(__cplusplus)
}
#endif
#define o_toy	o_misc

enum toy_records {
	CL_MARK	= 0,
};

#endif
