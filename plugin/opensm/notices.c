/*
 * notices.c: mails of the five phases through OpenSM: reports to those who subscribed to UnPath
 * (68) and RePath (69), and traps "local changes" (144) from them.
 *
 * OpenSM keeps subscriptions (InformInfo) in a list, and has a call that sends a notice to all who
 * want it; to send one to somebody in particular, as mails are, is what is done here with the same
 * parts. It takes answers to reports itself and tells nobody, so that a report was heard of is a
 * mail of its own. It does not drop subscriptions of those who are dead: that is done here, too,
 * for these two traps.
 *
 * Reports go to high addresses, with their service level: entries of these are mended first when
 * something fails, and stay while base ones change.
 *
 * Locks: whoever calls holds OpenSM's lock; exclusively to drop something.
 * Cost: O(subscriptions) each.
 */
#include <string.h>

#include "plugin.h"

enum {
    MAIL_AT = SV_FIVE_DETAILS - SV_FIVE_BYTES, /* in a notice's details */
    CLASS_MANAGER = 4                          /* who sends notices: not a node */
};

static bool is_ours(const osm_infr_t *record, ib_net64_t guid, uint16_t trap)
{
    const ib_inform_info_t *info = &record->inform_record.inform_info;
    return record->inform_record.subscriber_gid.unicast.interface_id == guid && info->is_generic &&
           info->g_or_v.generic.trap_num == cl_hton16(trap);
}

static osm_infr_t *find(plugin *p, ib_net64_t guid, uint16_t trap)
{
    cl_qlist_t *list = &p->osm->subn.sa_infr_list;
    for (cl_list_item_t *item = cl_qlist_head(list); item != cl_qlist_end(list);
         item = cl_qlist_next(item))
        if (is_ours((osm_infr_t *)item, guid, trap))
            return (osm_infr_t *)item;
    return NULL;
}

bool notices_subscribed(plugin *p, ib_net64_t guid)
{
    return find(p, guid, SM_UNPATH_TRAP) != NULL && find(p, guid, SM_REPATH_TRAP) != NULL;
}

void notices_drop(plugin *p, ib_net64_t guid)
{
    cl_qlist_t *list = &p->osm->subn.sa_infr_list;
    for (cl_list_item_t *item = cl_qlist_head(list), *next; item != cl_qlist_end(list);
         item = next) {
        osm_infr_t *record = (osm_infr_t *)item;
        next = cl_qlist_next(item);
        if (is_ours(record, guid, SM_UNPATH_TRAP) || is_ours(record, guid, SM_REPATH_TRAP))
            osm_infr_remove_from_db(&p->osm->subn, &p->osm->log, record);
    }
}

/* Where reports go: the high address beside the one that was subscribed from. */
static osm_mad_addr_t address_of(plugin *p, const osm_infr_t *to)
{
    osm_mad_addr_t address = to->report_addr;
    uint16_t high = cl_hton16(cl_ntoh16(address.dest_lid) | 1u);
    address.dest_lid = high;
    address.addr_type.gsi.service_level =
        plugin_path_sl(p, address.addr_type.gsi.service_level, p->osm->subn.sm_base_lid, high);
    return address;
}

bool notices_send(plugin *p, ib_net64_t guid, const sv_five_mail *mail, uint32_t counter)
{
    uint16_t trap = mail->epoch % 2 == 1 ? SM_UNPATH_TRAP : SM_REPATH_TRAP;
    osm_infr_t *to = find(p, guid, trap);
    if (to == NULL)
        return false;
    const osm_mad_addr_t address = address_of(p, to);
    osm_madw_t *report = osm_mad_pool_get(to->sa->p_mad_pool, to->h_bind, MAD_BLOCK_SIZE, &address);
    if (report == NULL)
        return false;
    report->resp_expected = TRUE;
    ib_mad_init_new(osm_madw_get_mad_ptr(report), IB_MCLASS_SUBN_ADM, 2, IB_MAD_METHOD_REPORT,
                    cl_hton64(0x5e000000u | (counter & 0xffffffu)), IB_MAD_ATTR_NOTICE, 0);
    ib_mad_notice_attr_t *notice = (ib_mad_notice_attr_t *)&osm_madw_get_sa_mad_ptr(report)->data;
    memset(notice, 0, sizeof *notice);
    notice->generic_type = 0x80 | IB_NOTICE_TYPE_SUBN_MGMT;
    ib_notice_set_prod_type_ho(notice, CLASS_MANAGER);
    notice->g_or_v.generic.trap_num = cl_hton16(trap);
    notice->issuer_lid = p->osm->subn.sm_base_lid;
    notice->issuer_gid.unicast.prefix = p->osm->subn.opt.subnet_prefix;
    notice->issuer_gid.unicast.interface_id = p->osm->subn.sm_port_guid;
    sv_five_pack(mail, counter, notice->data_details.raw_data.details + MAIL_AT);
    return osm_sa_send(to->sa, report, TRUE) == IB_SUCCESS;
}

bool notices_read(const ib_mad_notice_attr_t *notice, ib_net64_t *guid, sv_five_mail *mail)
{
    *guid = notice->issuer_gid.unicast.interface_id;
    return ib_notice_is_generic(notice) &&
           notice->g_or_v.generic.trap_num == cl_hton16(SM_LOCAL_CHANGES_TRAP) &&
           sv_five_unpack(notice->data_details.raw_data.details + MAIL_AT, mail);
}
